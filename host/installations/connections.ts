import { isDeepStrictEqual } from 'node:util'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import {
  type Configuration,
  type HeldConnection,
  heldLifetimeMs,
  type SettingDetails,
} from '../db/queries/installations.ts'
import { AnnexError } from '../errors.ts'
import { createRedactor, type Redact } from '../logs/create-redactor.ts'
import { environmentSecrets } from '../logs/known-secrets.ts'
import type { LevelKind } from '../manifest/settings/check-configuration.ts'
import { kindAfter } from './effective-settings.ts'
import type { StoredSettings } from './secret-settings.ts'
import { isTypedHost } from './typed-hosts.ts'

/** What a script says of a connection with a provider. `names` are its entries in the configuration. */
export type ConnectionEdit =
  /** It is made: it belongs to the buttons with this `callback_url`. */
  | { callback: string; account?: string }
  /** The script renews its tokens, or has. */
  | { names: string[]; step: 'claim' | 'renewed' }
  /** The provider has refused its grant. `retryAfterMs`: not for ever, so that a script may ask again then. */
  | { names: string[]; error: string; retryAfterMs?: number }

/** A connection as people see it. */
export type Connection = {
  state: 'none' | 'connected' | 'expiring' | 'broken'
  /** As the script names it. */
  account?: string
  since?: string
  /** Of a connection that the script cannot renew. */
  expiresAt?: string
  lastError?: string
  /** Another account has connected since, and waits for a yes until then. `replaces`: the account that the script uses. */
  held?: { account: string; replaces: string; at: string; until: string }
}

/** A script that renews tokens has this long: others wait for it. */
const claimMs = 15_000
/** Such a connection is shown as `expiring`. */
const expiringMs = 3 * 86_400_000

/** Where `createOAuthHandler` stores credentials. A level without buttons has its connection there. */
export const credentialsName = 'oauth_credentials'

const buttonsOf = (manifest: Manifest | undefined, kind: LevelKind): [string, string][] =>
  Object.entries(manifest?.configurations?.[kind]?.properties ?? {}).flatMap(([name, property]) =>
    property.type === 'button' ? [[name, property.callback_url.replace(/[?#].*$/, '')]] : [],
  )

const isStored = (stored: Configuration, name: string): boolean =>
  Object.hasOwn(stored, name) && stored[name] !== null && stored[name] !== ''

/** The values of the buttons that began a connection: the credentials, else an empty object. */
export function connectedButtons(
  manifest: Manifest,
  kind: LevelKind,
  callback: string,
  configuration: Configuration = {},
): Configuration {
  const started = buttonsOf(manifest, kind).filter(([, path]) => path === callback)
  return Object.fromEntries(started.map(([name]) => [name, configuration[credentialsName] ?? {}]))
}

/**
 * One script renews the tokens of a connection at a time, on whichever host. A grant that the provider has refused is not
 * asked for again.
 *
 * @throws AnnexError `conflict` while another renews them, `connection_broken`
 */
export function claimConnection(
  manifest: Manifest,
  kind: LevelKind,
  { details, names, now }: { details: SettingDetails; names: string[]; now: number },
): SettingDetails {
  const claimed = { ...details }
  for (const name of withoutAlias(names, buttonsOf(manifest, kind))) {
    const connection = Object.hasOwn(details, name) ? details[name]?.connection : undefined
    if (connection?.error !== undefined && (connection.claimedUntil ?? Infinity) > now) {
      throw new AnnexError('connection_broken', `The provider has refused the connection "${name}".`)
    }
    if ((connection?.claimedUntil ?? 0) > now)
      throw new AnnexError('conflict', `Another request renews the connection "${name}". Read it again.`)
    claimed[name] = {
      ...details[name],
      connection: { since: now, ...connection, claimedUntil: now + claimMs },
    }
  }
  return claimed
}

/**
 * The details of a level after an edit. A connection, a label and the mark of a typed host end with their value. A secret has no
 * label.
 */
export function detailsAfter(
  manifest: Manifest,
  kind: LevelKind,
  {
    details,
    previous,
    stored,
    secrets,
    typed = [],
    edit,
    now,
  }: {
    details: SettingDetails
    previous: Configuration
    stored: Configuration
    /** The settings whose values are secret. */
    secrets: ReadonlySet<string>
    /** The settings that a person has typed in this edit. */
    typed?: readonly string[]
    edit?: ConnectionEdit
    now: number
  },
): SettingDetails {
  const buttons = buttonsOf(manifest, kind)
  // An error and an account are texts of the script, which may quote a credential.
  const redact = createRedactor(environmentSecrets({ installation: { configuration: stored } }, secrets))
  const names = new Set([
    ...Object.keys(details),
    ...Object.keys(manifest.configurations?.[kind]?.properties ?? {}),
    ...secrets,
    ...typed,
    ...namesOf(edit, buttons),
  ])
  const edited = namesOf(edit, buttons)
  const after: SettingDetails = Object.create(null)
  for (const name of names) {
    const known = Object.hasOwn(details, name) ? (details[name] ?? {}) : {}
    const { label, connection, kind: before, typed: wasTyped } = known
    if (!Object.hasOwn(stored, name)) continue
    const isKept = isDeepStrictEqual(previous[name], stored[name])
    const mark = kindAfter(manifest, kind, name, { before, isKept })
    if (!isStored(stored, name)) {
      if (mark !== undefined) after[name] = { kind: mark }
      continue
    }
    const isButton = buttons.some(([button]) => button === name) && mark !== 'setting'
    const isConnection = connection !== undefined || isButton
    // A script without the handlers of the SDK stores new credentials, and says nothing of it.
    const isMadeAgain = connection?.error !== undefined && !isKept
    const current = isMadeAgain ? { since: now } : connection
    const next = edited.includes(name) ? applyEdit(current, edit, { now, redact }) : current
    const endsAt = isKept ? (connection?.endsAt ?? endOf(stored[name], now)) : endOf(stored[name], now)
    after[name] = {
      ...(mark && { kind: mark }),
      ...(secrets.has(name)
        ? { secret: true as const }
        : label !== undefined && label.value === stored[name] && { label }),
      ...(typed.includes(name)
        ? isTypedHost(manifest.configurations, kind, name, stored[name]) && { typed: true as const }
        : wasTyped === true && isKept && { typed: wasTyped }),
      ...((isConnection || edited.includes(name)) && {
        connection: withEnd(next ?? { since: now }, endsAt),
      }),
    }
  }
  return after
}

/** The names that an edit of a connection is about. */
export const connectionNames = (manifest: Manifest, kind: LevelKind, edit: ConnectionEdit): string[] =>
  namesOf(edit, buttonsOf(manifest, kind))

function namesOf(edit: ConnectionEdit | undefined, buttons: [string, string][]): string[] {
  if (edit === undefined) return []
  if ('names' in edit) return withoutAlias(edit.names, buttons)
  const started = buttons.filter(([, path]) => path === edit.callback).map(([name]) => name)
  return started.length === 0 ? [credentialsName] : started
}

/** Credentials are stored under their button and as `oauth_credentials`: it is one connection, and one problem. */
function withoutAlias(names: string[], buttons: [string, string][]): string[] {
  const named = names.filter((name) => buttons.some(([button]) => button === name))
  return named.length === 0 ? names : named
}

type Details = NonNullable<SettingDetails[string]['connection']>

function applyEdit(
  before: Details | undefined,
  edit: ConnectionEdit | undefined,
  { now, redact }: { now: number; redact: Redact },
): Details {
  if (edit !== undefined && 'callback' in edit) {
    return { since: now, ...(edit.account !== undefined && { account: redact(edit.account) }) }
  }
  const { claimedUntil: _, error: __, ...kept } = before ?? { since: now }
  if (edit === undefined || !('error' in edit)) return kept
  const { error, retryAfterMs } = edit
  return {
    ...kept,
    error: redact(error),
    ...(retryAfterMs !== undefined && { claimedUntil: now + retryAfterMs }),
  }
}

function withEnd({ endsAt: _, ...connection }: Details, endsAt: number | undefined): Details {
  return { ...connection, ...(endsAt !== undefined && { endsAt }) }
}

/** Why a connection is broken, and since when. @returns undefined for one that works */
export function whyDisconnected(
  details: Details | undefined,
  now: number,
): { error: string; since?: number } | undefined {
  const { error, endsAt } = details ?? {}
  if (error !== undefined) return { error }
  if (endsAt === undefined || endsAt > now) return undefined
  return { error: 'The access token has expired, and cannot be renewed.', since: endsAt }
}

/** The account that waits at a connection, and the one that it would replace. Buttons with one callback address share it. */
export function heldAt(
  manifest: Manifest | undefined,
  { kind, settingDetails: details }: Pick<StoredSettings, 'kind' | 'settingDetails'>,
  name: string,
  now: number,
): { held: HeldConnection; replaces: string } | undefined {
  const buttons = buttonsOf(manifest, kind)
  const callback = buttons.find(([button]) => button === name)?.[1]
  const others = buttons.filter(([, path]) => path === callback).map(([button]) => button)
  for (const one of [name, ...others]) {
    const { held, account = '' } = (Object.hasOwn(details, one) && details[one]?.connection) || {}
    if (held !== undefined && now < heldUntil(held)) return { held, replaces: account }
  }
  return undefined
}

export const heldUntil = ({ at }: HeldConnection): number => at + heldLifetimeMs

/** The connections of a level, by their names in its configuration. People see no credentials. */
export function toConnections(
  manifest: Manifest | undefined,
  level: StoredSettings,
  now: number,
): Record<string, Connection> | undefined {
  const { kind, configuration, settingDetails } = level
  const names = buttonsOf(manifest, kind).map(([name]) => name)
  const others = Object.keys(settingDetails).filter((name) => settingDetails[name]?.connection !== undefined)
  const all = [...names, ...(names.length === 0 ? others : [])]
  if (all.length === 0) return undefined
  return Object.fromEntries(
    all.map((name) => {
      const held = toHeld(heldAt(manifest, level, name, now))
      return [name, { ...toConnection(configuration, name, settingDetails[name], now), ...held }]
    }),
  )
}

function toHeld(found: ReturnType<typeof heldAt>): Pick<Connection, 'held'> {
  if (found === undefined) return {}
  const { held, replaces } = found
  const at = new Date(held.at).toISOString()
  const until = new Date(heldUntil(held)).toISOString()
  return { held: { account: held.account, replaces, at, until } }
}

function toConnection(
  stored: Configuration,
  name: string,
  details: SettingDetails[string] | undefined,
  now: number,
): Connection {
  // An older version may have declared a text there.
  if (!isStored(stored, name) || details?.kind === 'setting') return { state: 'none' }
  const { account, since, endsAt } = details?.connection ?? {}
  const error = whyDisconnected(details?.connection, now)?.error
  const isExpiring = endsAt !== undefined && endsAt - now < expiringMs
  return {
    state: error !== undefined ? 'broken' : isExpiring ? 'expiring' : 'connected',
    ...(account !== undefined && { account }),
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(endsAt !== undefined && { expiresAt: new Date(endsAt).toISOString() }),
    ...(error !== undefined && { lastError: error }),
  }
}

/** When credentials end that have no refresh token. Scripts also store an answer of a provider as it is. */
function endOf(value: unknown, now: number): number | undefined {
  const {
    expires_at: at,
    expires_in: seconds,
    refresh_token: refresh,
  } = (value ?? {}) as Record<string, unknown>
  if (typeof refresh === 'string' && refresh !== '') return undefined
  const [end, lifetime] = [toNumber(at), toNumber(seconds)]
  // Providers count in seconds, and `expires_at` of the SDK is in milliseconds.
  if (end !== undefined) return end < 1e11 ? end * 1000 : end
  return lifetime === undefined ? undefined : now + lifetime * 1000
}

function toNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && number >= 0 && number < 8e15 ? number : undefined
}

/**
 * The broken connections of a level, by their names. Builds before 0.2 also noted the error of a button at
 * `oauth_credentials`.
 */
export function brokenConnections(
  details: SettingDetails,
  now: number,
): { name: string; error: string; since?: number }[] {
  const broken = Object.entries(details).flatMap(([name, { connection }]) => {
    const why = whyDisconnected(connection, now)
    return why === undefined ? [] : [{ name, ...why }]
  })
  return broken.length === 1 ? broken : broken.filter(({ name }) => name !== credentialsName)
}
