import { keepLast } from '../keep-last.ts'
import { createRedactor, type Redact } from './create-redactor.ts'
import { shortestSecret } from './secret-forms.ts'

/**
 * The secrets that were handed to scripts. Each owner (an installation, or an integration as a whole) has its own: were
 * they looked for in everybody's lines, a script could find out by logging guesses what its neighbour's secrets are.
 */
export type KnownSecrets = {
  learn: (owner: string, secrets: Iterable<[name: string, value: string]>) => void
  /** A line of the owner's script, or about it. */
  redact: (owner: string, text: string) => string
  /** A line of the host's own log, which only the operator reads: anybody's secrets, as they are and in JSON. */
  redactAny: Redact
}

const maxOwners = 10_000
const maxOfOne = 300
/** Those who log. The others cost no more than their secrets. */
const maxRedactors = 200

/** @param own secrets of the host itself, for its own log */
export function createKnownSecrets(own: [name: string, value: string][]): KnownSecrets {
  const owners = new Map<string, Map<string, string>>()
  const redactors = new Map<string, Redact>()
  const redactOwn = createRedactor(own.filter(([, value]) => value !== ''))
  return {
    learn(owner, secrets) {
      const known = owners.get(owner) ?? new Map<string, string>()
      for (const [name, value] of secrets) {
        if (value.length < shortestSecret) continue
        // What is in use is forgotten last: tokens come and go, and the old ones are worth nothing.
        if (!known.has(value)) redactors.delete(owner)
        keepLast(known, value, name, maxOfOne)
      }
      keepLast(owners, owner, known, maxOwners)
    },
    redact: (owner, text) => withoutTokens(redactorOf(owner)(text)),
    redactAny(text) {
      let redacted = redactOwn(text)
      for (const [owner, known] of owners) {
        const isThere = [...known.keys()].some((value) =>
          redacted.includes(JSON.stringify(value).slice(1, -1)),
        )
        if (isThere) redacted = redactorOf(owner)(redacted)
      }
      return withoutTokens(redacted)
    },
  }

  function redactorOf(owner: string): Redact {
    const redactor =
      redactors.get(owner) ??
      createRedactor(
        [...(owners.get(owner) ?? [])].reverse().map(([value, name]): [string, string] => [name, value]),
      )
    keepLast(redactors, owner, redactor, maxRedactors)
    return redactor
  }
}

/** Tokens that Annex does not know but knows the look of: those of people and scripts, and what stands in an Authorization header. */
const withoutTokens = (text: string): string =>
  text
    .replace(/\bannex_(?:op|org|setup)_[\w-]{20,}/g, '[secret Annex token]')
    .replace(/(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g, '[secret JSON Web Token]')
    .replace(/\b(bearer\s{1,4})[\w.~+/=-]{20,}/gi, '$1[secret bearer token]')
