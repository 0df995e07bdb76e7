import { createTable, defineProperty, NativeError, ownKeys, parseJson } from '../primordials.ts'
import { exposeCodeKey } from './plain-error.ts'

type Environment = { [field: string]: unknown }

/** The environments of dispatches. They are long and change seldom: so each comes once, as text. */
export type Environments = {
  set(id: number, text: string): void
  /** Parses it when it is first looked at. Each dispatch has an object of its own. */
  reader(id: number): () => Environment
}

export const createEnvironments = (): Environments => {
  const texts = createTable<string>()
  return {
    set(id, text) {
      texts[id] = text
    },
    reader(id) {
      const text = texts[id] ?? '{}'
      let parsed: Environment | undefined
      return () => {
        parsed ??= withoutNulls(parseJson(text) as Environment)
        return parsed
      }
    },
  }
}

/**
 * The host writes `null` for a declared secret that has no value. Its getter throws: a script that writes `undefined` into
 * an address, a header or a form would send that text to its provider.
 */
const withoutNulls = (environment: Environment): Environment => {
  const secrets = environment.secrets as Environment | undefined
  if (secrets === undefined) return environment
  const names = ownKeys(secrets)
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as string
    if (secrets[name] !== null) continue
    const get = () => {
      throw missingSecret(name)
    }
    defineProperty(secrets, name, { get, enumerable: true, configurable: true })
  }
  return environment
}

const missingSecret = (name: string): Error => {
  const error = new NativeError(
    `The secret ${name} is not set on this Annex. \`npx annex problems\` tells its operator what to set.`,
  )
  defineProperty(error, exposeCodeKey, { value: 503 })
  return error
}
