/** The compiler's library types bodies of the web platform. Scripts for workers also name the value's type: `json<T>()`. */
declare global {
  interface Body {
    /** Reads the whole body as JSON. `Value` is what the script expects. Annex does not check it. */
    // biome-ignore lint/suspicious/noExplicitAny: the library gives any, too
    json<Value = any>(): Promise<Value>
  }
}

export {}
