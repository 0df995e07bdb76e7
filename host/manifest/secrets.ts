import type { Manifest } from '../../schemas/generated/manifest.ts'
import { type SettingName, settingsTable } from '../config/settings-table.ts'
import { quoteValue } from './message-text.ts'
import type { Finding } from './problem.ts'
import { isOperatorsOwn, type ReadOptions, toOtherNames } from './read-options.ts'

/**
 * The reason why a manifest may not read a variable of the host's environment. Without this rule, the manifest of a
 * third party could pass Annex's own key to its script with `${{ env.SECRET_KEY }}`.
 *
 * 1. No manifest reads settings of Annex, or variables of shells, Node, package tools, clouds and databases.
 * 2. The operator's own integrations read any other variable, as on the reference platform.
 * 3. Other integrations read `PLUGIN_<NAME>__…` only: `PLUGIN_PAGE_STATS__API_KEY` for `page-stats`. The two
 *    underscores keep `page` from the variables of `page-stats`: a name has no double hyphen.
 */
function whyRefused(
  variable: string,
  { name: integration }: Partial<Manifest>,
  isOperators: boolean,
): { reason: string; forAll: boolean } | undefined {
  const name = variable.toUpperCase()
  const setting = name.replace(/_FILE$/, '')
  if (isSetting(name) || isSetting(setting))
    return { reason: 'it is a setting of Annex itself', forAll: true }
  if (neverNames.has(name) || neverPrefixes.some((prefix) => name.startsWith(prefix))) {
    return { reason: 'it belongs to the machine that Annex runs on', forAll: true }
  }
  if (integration === undefined || isOperators) return undefined
  const prefix = prefixOf(integration)
  if (variable.startsWith(prefix) && variable.length > prefix.length) return undefined
  const reason = `an integration of another organization may read only variables that begin with ${prefix}`
  return { reason, forAll: false }
}

/** The variable that a reference names: `API_KEY` for `${{ env.API_KEY }}`. */
const toVariable = (reference: string): string | undefined => /\benv\.(\w+)/.exec(reference)?.[1]

/**
 * The values of an integration's secrets by name. `null`: forbidden, or not set on this host.
 *
 * @param organizationId the integration's owner. The manifest's text proves nothing: an external id may change hands
 */
export function readSecrets(
  manifest: Manifest,
  options: ReadOptions,
  organizationId: string,
): Record<string, string | null> {
  const isOperators = organizationId === options.operatorOrganizationId
  const read = (reference: string): string | null => {
    const variable = toVariable(reference)
    if (variable === undefined || whyRefused(variable, manifest, isOperators)) return null
    const value = lookUp(variable, options)
    return value === undefined || whyUnusable(value) !== undefined ? null : value
  }
  return Object.fromEntries(
    Object.entries(manifest.secrets ?? {}).map(([secret, reference]) => [secret, read(reference)]),
  )
}

/** The secrets of a manifest that have no value on this host, with their references. */
export function missingSecrets(
  manifest: Manifest,
  options: ReadOptions,
  organizationId: string,
): [name: string, reference: string][] {
  const values = readSecrets(manifest, options, organizationId)
  return Object.entries(manifest.secrets ?? {}).filter(([name]) => values[name] === null)
}

const lookUp = (variable: string, { environment }: Pick<ReadOptions, 'environment'>): string | undefined =>
  Object.hasOwn(environment, variable) ? environment[variable] : undefined

/** Why a provider must not get a value. `undefined` as a text is what Node stores for a variable without a value. */
function whyUnusable(value: string | undefined): string | undefined {
  if (value === undefined || value.trim() === '') return 'is not set'
  if (value === 'undefined') return 'holds the text "undefined", so it is not set'
  if (isStoreReference(value))
    return `holds ${quoteValue(value)}, a reference to a password store, which Annex does not read`
  return undefined
}

/** The form of 1Password. Other addresses may be values of secrets. */
const isStoreReference = (value: string): boolean => /^\s*op:\/\//i.test(value)

/** The first address in a manifest's secret, where a variable has to be: `op://vault/item/field`, for instance. */
export const findStoreReference = (text: unknown): string | undefined =>
  typeof text === 'string' ? /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'{}]*/i.exec(text)?.[0] : undefined

/** Each secret names an environment variable that is set and that the integration may read. */
export function checkSecrets(manifest: Partial<Manifest>, options: ReadOptions): Finding[] {
  const findings: Finding[] = []
  const isOperators = manifest.organization === undefined || isOperatorsOwn(manifest, options)
  for (const [name, reference] of Object.entries(manifest.secrets ?? {})) {
    const variable = toVariable(reference ?? '')
    if (variable === undefined) continue
    const complain = (message: string, hint: string, severity: Finding['severity'] = 'error') =>
      findings.push({ pointer: `/secrets/${name}`, at: 'value', severity, message, hint })
    // Refused before the lookup: the answer must not reveal whether the variable exists.
    const refused = whyRefused(variable, manifest, isOperators)
    if (refused !== undefined) {
      complain(
        `the secret "${name}" may not read the environment variable ${variable}: ${refused.reason}`,
        `name another variable${refused.forAll ? '' : toOtherNames(options)}`,
        options.isWithoutServer && !refused.forAll ? 'warning' : 'error',
      )
      continue
    }
    const unusable = whyUnusable(lookUp(variable, options))
    if (unusable !== undefined) {
      complain(
        `the environment variable ${variable} of the secret "${name}" ${unusable}`,
        `write ${variable}=… into .env and reload, or start Annex with it in the environment`,
        options.isWithoutServer ? 'warning' : 'error',
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
