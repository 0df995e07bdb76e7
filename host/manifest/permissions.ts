import type { Manifest, Scope } from '../../schemas/generated/manifest.ts'
import { parseContentSecurityPolicy } from './checks/content-security-policy.ts'
import { hasTypedSetting } from './settings/typed-settings.ts'

/**
 * One thing that a version asks an installer for. A grant records them.
 *
 * - `host`: the script may send data there, also as a webhook; `*` stands for any public host
 * - `delivery`: beside the declared hosts, webhooks go to hosts of settings that people type
 * - `level`: the version has settings for it
 * - `directive`: a directive of the content security policy with one of its sources
 * - `secret`: the name of a secret that the script gets from the host
 */
export type Permission = {
  kind: 'scope' | 'host' | 'delivery' | 'level' | 'directive' | 'secret'
  name: string
}

const anyHost = '*'

export function permissionsOf(manifest: Manifest): Permission[] {
  const { scopes, egress = [anyHost], secrets = {}, configurations = {} } = manifest
  const sendsToTyped =
    manifest.script !== undefined && manifest.egress !== undefined && hasTypedSetting(manifest)
  const directives = Object.entries(parseContentSecurityPolicy(manifest.contentSecurityPolicy ?? {}))
  const names: Record<Permission['kind'], string[]> = {
    scope: scopes,
    host: manifest.script === undefined ? [] : egress,
    delivery: sendsToTyped ? ['typed'] : [],
    level: Object.keys(configurations),
    directive: directives.flatMap(([directive, sources]) =>
      sources.split(' ').map((source) => `${directive} ${source}`.trim()),
    ),
    secret: Object.keys(secrets),
  }
  return Object.entries(names).flatMap(([kind, all]) =>
    [...new Set(all)].sort().map((name) => ({ kind: kind as Permission['kind'], name })),
  )
}

/**
 * The permissions that a grant does not cover: the installer has to agree to them. A new secret needs no agreement. It belongs
 * to the publisher, and `host` says where it can go. Nor does `delivery`: a person types each host, and no grant from before
 * `egress` bound webhooks has it.
 */
export function findUnagreed(agreed: readonly Permission[], wanted: readonly Permission[]): Permission[] {
  return wanted.filter((permission) => !isFree(permission) && !isCovered(agreed, permission))
}

const isFree = ({ kind }: Permission): boolean => kind === 'secret' || kind === 'delivery'

function isCovered(agreed: readonly Permission[], { kind, name }: Permission): boolean {
  return agreed.some(
    (one) => one.kind === kind && (one.name === name || (kind === 'host' && hasHost(one.name, name))),
  )
}

/** `*.example.com` stands for every name below it. */
const hasHost = (agreed: string, host: string): boolean =>
  agreed === anyHost || (agreed.startsWith('*.') && host.endsWith(agreed.slice(1)))

/** The permissions of `list` that `others` has not, compared by name. */
export function permissionsWithout(list: readonly Permission[], others: readonly Permission[]): Permission[] {
  return list.filter(({ kind, name }) => !others.some((one) => one.kind === kind && one.name === name))
}

/** A sentence for the installer. */
export function describePermission({ kind, name }: Permission): string {
  switch (kind) {
    case 'scope':
      return describeScope(name as Scope)
    case 'host':
      return name === anyHost ? 'Send data to any public host.' : `Send data to ${name}.`
    case 'delivery':
      return 'Send webhooks to the hosts of addresses that people type in its settings.'
    case 'level':
      return name === 'account'
        ? 'Ask for settings of the organization.'
        : `Ask for settings of each ${name}.`
    case 'directive':
      return `Show content with the policy ${name}.`
    case 'secret':
      return `Use the secret ${name}, which the operator of this Annex has set.`
  }
}

/** Scopes that manifests may declare, and that open nothing yet. */
export const scopesWithoutEffect: ReadonlySet<Scope> = new Set([
  'space:git:sync',
  'site:script:cookies',
  'site:visitor:claims',
  'openapi:read',
  'openapi:write',
  'conversations:ingest',
])

function describeScope(scope: Scope): string {
  const sentence = scopeSentences[scope] ?? `Use the scope ${scope}.`
  return scopesWithoutEffect.has(scope) ? sentence.replace(/\.$/, ' (no effect yet).') : sentence
}

/** One sentence for each scope. */
const scopeSentences: Readonly<Record<Scope, string>> = {
  'space:content:read': 'Read the content of the spaces that it is installed in.',
  'space:content:write': 'Change the content of the spaces that it is installed in.',
  'space:metadata:read': 'Read titles and addresses of the spaces that it is installed in.',
  'space:metadata:write': 'Change titles of the spaces that it is installed in.',
  'space:git:sync': 'Synchronize the spaces that it is installed in with Git.',
  'site:metadata:read': 'Read titles and addresses of the sites that it is installed in.',
  'site:views:read': 'Read the visits of the sites that it is installed in, with data of the visitors.',
  'site:script:inject': 'Run JavaScript in the pages of the sites that it is installed in.',
  'site:script:cookies': 'Set cookies in the pages of the sites that it is installed in.',
  'site:visitor:auth': 'Decide which visitors may read the sites that it is installed in.',
  'site:visitor:claims': 'Show claims of visitors to the frames that it displays.',
  'site:adaptive:read': 'Read the claims that adapt the content of sites.',
  'site:adaptive:write': 'Change the claims that adapt the content of sites.',
  'openapi:read': 'Read the OpenAPI specifications of the organization.',
  'openapi:write': 'Change the OpenAPI specifications of the organization.',
  'conversations:ingest': 'Add conversations to the organization.',
  'page:feedback:read': 'Read the feedback that visitors give on pages.',
}
