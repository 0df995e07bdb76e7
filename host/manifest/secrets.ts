import type { Manifest } from '../../schemas/generated/manifest.ts'
import { type SettingName, settingsTable } from '../config/settings-table.ts'
import { isOperatorsOwn } from './checks/check-internal-scopes.ts'
import type { Operator, ReadOptions } from './read-options.ts'

/**
 * Which variables of the host's environment a manifest may name. Whoever writes a plugin writes its manifest, so
 * without a rule `${{ env.SECRET_KEY }}` would hand Annex's own key to a stranger's script.
 *
 * 1. Never: Annex's own settings, and what shells, Node, package tools, clouds and databases keep there.
 * 2. The operator's own integrations: any other name, as scripts for the reference platform use them.
 * 3. Everybody else's: only `PLUGIN_<NAME>__…`, for instance `PLUGIN_PAGE_STATS__API_KEY` for `page-stats`. The
 *    operator sets such a variable for that one integration, and for nothing else. The two underscores keep
 *    `page` out of what belongs to `page-stats`: a name has no double hyphen.
 */
export function whyRefused(
  variable: string,
  manifest: Partial<Manifest>,
  operator: Operator,
): string | undefined {
  const name = variable.toUpperCase()
  const setting = name.replace(/_FILE$/, '')
  if (isSetting(name) || isSetting(setting)) return 'it is a setting of Annex itself'
  if (neverNames.has(name) || neverPrefixes.some((prefix) => name.startsWith(prefix))) {
    return 'it belongs to the machine that Annex runs on'
  }
  if (manifest.organization === undefined || manifest.name === undefined) return undefined
  if (isOperatorsOwn(manifest, operator)) return undefined
  const prefix = prefixOf(manifest.name)
  if (variable.startsWith(prefix) && variable.length > prefix.length) return undefined
  return `an integration of another organization may read only variables that begin with ${prefix}`
}

/** The variable that a manifest's reference names: `API_KEY` for `${{ env.API_KEY }}`. */
export const toVariable = (reference: string): string | undefined => /\benv\.(\w+)/.exec(reference)?.[1]

/** The values of an integration's secrets by their names, without those that it may not read or that are not set. */
export function readSecrets(manifest: Manifest, options: ReadOptions): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [secret, reference] of Object.entries(manifest.secrets ?? {})) {
    const variable = toVariable(reference)
    if (variable === undefined || whyRefused(variable, manifest, options) !== undefined) continue
    const value = lookUp(variable, options)
    if (value !== undefined) values[secret] = value
  }
  return values
}

/** The value of a variable; nothing when it is not set, or empty. */
export const lookUp = (
  variable: string,
  { environment }: Pick<ReadOptions, 'environment'>,
): string | undefined =>
  Object.hasOwn(environment, variable) && environment[variable] !== '' ? environment[variable] : undefined

const isSetting = (name: string): name is SettingName => Object.hasOwn(settingsTable, name)

const prefixOf = (integration: string): string => `PLUGIN_${integration.toUpperCase().replaceAll('-', '_')}__`

const neverNames = new Set([
  ...[
    'PATH',
    'HOME',
    'USER',
    'LOGNAME',
    'SHELL',
    'PWD',
    'OLDPWD',
    'HOSTNAME',
    'TERM',
    'LANG',
    'TMPDIR',
    'ENV',
  ],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'KUBECONFIG', 'CI', 'GITHUB_TOKEN', 'GH_TOKEN'],
  ...['GITLAB_TOKEN', 'CI_JOB_TOKEN', 'GOOGLE_APPLICATION_CREDENTIALS', 'VAULT_TOKEN', 'SENTRY_AUTH_TOKEN'],
])

const neverPrefixes = [
  ...[
    'NODE_',
    'NPM_',
    'YARN_',
    'PNPM_',
    'LD_',
    'DYLD_',
    'SSH_',
    'GPG_',
    'SUDO_',
    'XDG_',
    'SYSTEMD_',
    'BASH_',
  ],
  ...['AWS_', 'AZURE_', 'GCP_', 'DOCKER_', 'KUBERNETES_', 'PG', 'POSTGRES_', 'MYSQL_', 'REDIS_', 'SQLITE_'],
  ...['DATABASE_', 'ANNEX_', 'OTEL_', 'CREDENTIALS_'],
]
