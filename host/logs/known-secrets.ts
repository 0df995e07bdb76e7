import { LRUCache } from 'lru-cache'
import { createLru } from '../cache.ts'
import { createRedactor, type Redact, shortestSecret } from './create-redactor.ts'

/**
 * The secrets that scripts have got. Each owner (an installation, or an integration as a whole) has its own: with shared ones, a
 * script could log guesses, and learn from the redaction which secrets its neighbours have.
 */
export type KnownSecrets = {
  learn: (owner: string, secrets: Iterable<[name: string, value: string]>) => void
  /** A line of the owner's script, or about it. `isCut`: see `Redact`. */
  redact: (owner: string, text: string, isCut?: boolean) => string
  /** A line of the host's own log, which only the operator reads: the secrets of all owners, plain and in JSON. */
  redactAny: Redact
}

const maxOwners = 10_000
const maxOfOne = 300
/** Of owners that log. */
const maxRedactors = 200

/** @param own secrets of the host itself */
export function createKnownSecrets(own: [name: string, value: string][]): KnownSecrets {
  const owners = createLru<Map<string, string>>(maxOwners)
  const redactors = new LRUCache<string, Redact>({ max: maxRedactors })
  const redactOwn = createRedactor(own.filter(([, value]) => value !== ''))
  return {
    learn(owner, secrets) {
      const known = owners.get(owner) ?? new Map<string, string>()
      for (const [name, value] of secrets) {
        if (value.length < shortestSecret) continue
        // Secrets in use are forgotten last: old tokens have expired.
        if (!known.has(value)) redactors.delete(owner)
        known.delete(value)
        known.set(value, name)
        const [oldest] = known.keys()
        if (known.size > maxOfOne && oldest !== undefined) known.delete(oldest)
      }
      owners.set(owner, known)
    },
    redact: (owner, text, isCut) => withoutTokens(redactorOf(owner)(text, isCut)),
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
    redactors.set(owner, redactor)
    return redactor
  }
}

/** Unknown tokens with a known form: Annex's own tokens and cookies, JSON Web Tokens, and those of an Authorization header. */
const withoutTokens = (text: string): string =>
  text
    .replace(/\bannex_[a-z]+_[\w-]{20,}/g, '[secret Annex token]')
    .replace(/\b(annex[-_][\w-]{1,100}=)[\w.~+/%=-]{8,}/gi, '$1[secret Annex cookie]')
    .replace(/(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g, '[secret JSON Web Token]')
    .replace(/\b(bearer\s{1,4})[\w.~+/=-]{20,}/gi, '$1[secret bearer token]')

/** Names of settings that hold secrets, also where the manifest does not say `secret: true`. */
const secretName =
  /secret|token|passw|credential|api_?key|private_?key|access_?key|signing_?key|authorization/i
const deepest = 6
const maxOfEnvironment = 200

/**
 * The values of an environment that must not appear in a log: the manifest's secrets, signing secrets, API tokens, and settings
 * whose names suggest a secret, also undeclared ones.
 *
 * @param declared names of settings that the manifest declares as secret
 */
export function environmentSecrets(
  environment: Record<string, unknown>,
  declared: ReadonlySet<string> = new Set(),
): [name: string, value: string][] {
  const found: [string, string][] = []
  const { secrets, signingSecrets, apiTokens } = environment
  collect(secrets, '', true, 0)
  collect(signingSecrets, 'signingSecrets', true, 0)
  collect(apiTokens, 'apiTokens', true, 0)
  for (const level of ['installation', 'siteInstallation', 'spaceInstallation']) {
    const { configuration } = (environment[level] ?? {}) as { configuration?: unknown }
    collect(configuration, 'configuration', false, 0)
  }
  return found

  function collect(value: unknown, name: string, isSecret: boolean, depth: number): void {
    if (depth > deepest || found.length >= maxOfEnvironment) return
    if (typeof value === 'string') {
      if (!isSecret) return
      found.push([name, value])
      // Some libraries use the part after the prefix as the key.
      if (value.startsWith('whsec_')) found.push([name, value.slice('whsec_'.length)])
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        collect(
          inner,
          name === '' ? key : `${name}.${key}`,
          isSecret || secretName.test(key) || declared.has(key),
          depth + 1,
        )
      }
    }
  }
}
