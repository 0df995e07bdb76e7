import { createTable, parseJson } from '../primordials.ts'

/** The environments of dispatches. They are long and change seldom: so each comes once, as text. */
export type Environments = {
  set(id: number, text: string): void
  /** Parses it when it is first looked at. Each dispatch has an object of its own. */
  reader(id: number): () => { [field: string]: unknown }
}

export const createEnvironments = (): Environments => {
  const texts = createTable<string>()
  return {
    set(id, text) {
      texts[id] = text
    },
    reader(id) {
      const text = texts[id] ?? '{}'
      let parsed: { [field: string]: unknown } | undefined
      return () => {
        parsed ??= parseJson(text) as { [field: string]: unknown }
        return parsed
      }
    },
  }
}
