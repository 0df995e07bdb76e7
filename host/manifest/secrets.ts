import type { Manifest } from '../../schemas/generated/manifest.ts'
import { type SettingName, settingsTable } from '../config/settings-table.ts'
import type { Finding } from './problem.ts'
import { isOperatorsOwn, type Operator, type ReadOptions } from './read-options.ts'

/**
 * The reason why a manifest may not read a variable of the host's environment. Without this rule, the manifest of a
 * third party could pass Annex's own key to its script with `${{ env.SECRET_KEY }}`.
 *
 * 1. No manifest reads settings of Annex, or variables of shells, Node, package tools, clouds and databases.
 * 2. The operator's own integrations read any other variable, as on the reference platform.
 * 3. Other integrations read `PLUGIN_<NAME>__…` only: `PLUGIN_PAGE_STATS__API_KEY` for `page-stats`. The two
 *    underscores keep `page` from the variables of `page-stats`: a name has no double hyphen.
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

/** The variable that a reference names: `API_KEY` for `${{ env.API_KEY }}`. */
const toVariable = (reference: string): string | undefined => /\benv\.(\w+)/.exec(reference)?.[1]

/** The values of an integration's secrets by name. Forbidden and unset ones are left out. */
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

/** The secrets of a manifest that have no value on this host, with their references. */
export function missingSecrets(
  manifest: Manifest,
  options: ReadOptions,
): [name: string, reference: string][] {
  const values = readSecrets(manifest, options)
  return Object.entries(manifest.secrets ?? {}).filter(([name]) => !Object.hasOwn(values, name))
}

/** An empty variable counts as unset. */
const lookUp = (variable: string, { environment }: Pick<ReadOptions, 'environment'>): string | undefined =>
  Object.hasOwn(environment, variable) && environment[variable] !== '' ? environment[variable] : undefined

/** Each secret names an environment variable that is set and that the integration may read. */
export function checkSecrets(manifest: Partial<Manifest>, options: ReadOptions): Finding[] {
  const findings: Finding[] = []
  for (const [name, reference] of Object.entries(manifest.secrets ?? {})) {
    const variable = toVariable(reference ?? '')
    if (variable === undefined) continue
    const complain = (message: string, hint: string, severity: Finding['severity'] = 'error') =>
      findings.push({ pointer: `/secrets/${name}`, at: 'value', severity, message, hint })
    // Refused before the lookup: the answer must not reveal whether the variable exists.
    const refused = whyRefused(variable, manifest, options)
    if (refused !== undefined) {
      complain(
        `the secret "${name}" may not read the environment variable ${variable}: ${refused}`,
        'name another variable',
      )
    } else if (lookUp(variable, options) === undefined) {
      complain(
        `the environment variable ${variable} of the secret "${name}" is not set`,
        `write ${variable}=… into .env and reload, or start Annex with it in the environment`,
        options.secretsMayMiss ? 'warning' : 'error',
      )
    }
  }
  return findings
}

const isSetting = (name: string): name is SettingName => Object.hasOwn(settingsTable, name)

const prefixOf = (integration: string): string => `PLUGIN_${integration.toUpperCase().replaceAll('-', '_')}__`

const neverNames = new Set(
  [
    'PATH HOME USER LOGNAME SHELL PWD OLDPWD HOSTNAME TERM LANG TMPDIR ENV',
    'HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY KUBECONFIG CI GITHUB_TOKEN GH_TOKEN GITLAB_TOKEN CI_JOB_TOKEN',
    'GOOGLE_APPLICATION_CREDENTIALS VAULT_TOKEN SENTRY_AUTH_TOKEN',
  ].flatMap((names) => names.split(' ')),
)

const neverPrefixes = [
  'NODE_ NPM_ YARN_ PNPM_ LD_ DYLD_ SSH_ GPG_ SUDO_ XDG_ SYSTEMD_ BASH_ AWS_ AZURE_ GCP_ DOCKER_ KUBERNETES_',
  'PG POSTGRES_ MYSQL_ REDIS_ SQLITE_ DATABASE_ ANNEX_ OTEL_ CREDENTIALS_',
].flatMap((prefixes) => prefixes.split(' '))
