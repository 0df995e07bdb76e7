/** whatwg-url brings no types; those of TypeScript's own library are the same interfaces. */
declare module 'whatwg-url' {
  export const URL: typeof globalThis.URL
  export const URLSearchParams: typeof globalThis.URLSearchParams
}
