/** Names of settings that hold what nobody should read. A manifest has no kind of setting for secrets. */
const secretName =
  /secret|token|passw|credential|api_?key|private_?key|access_?key|signing_?key|authorization/i
const deepest = 6
const maxOfOne = 200

/**
 * What of a dispatch's environment must not be in a log: the secrets that the manifest names, the signing secrets and
 * API tokens, and settings whose names say so, those included that a script stored beside the declared ones.
 */
export function environmentSecrets(environment: Record<string, unknown>): [name: string, value: string][] {
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
    if (depth > deepest || found.length >= maxOfOne) return
    if (typeof value === 'string') {
      if (!isSecret) return
      found.push([name, value])
      // The part after the prefix is what some libraries take for the key.
      if (value.startsWith('whsec_')) found.push([name, value.slice('whsec_'.length)])
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        collect(inner, name === '' ? key : `${name}.${key}`, isSecret || secretName.test(key), depth + 1)
      }
    }
  }
}
