import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { HeldConnection, SettingDetails } from '../db/queries/installations.ts'
import type { Level } from '../db/queries/levels.ts'
import { AnnexError } from '../errors.ts'
import { createRedactor } from '../logs/create-redactor.ts'
import { environmentSecrets } from '../logs/known-secrets.ts'
import { type ConnectionEdit, connectionNames, heldAt, heldUntil } from './connections.ts'

/** An edit of a script that connects an account, and may store more beside it. */
type ConnectingEdit = { configuration?: Record<string, unknown>; connection?: ConnectionEdit }

/**
 * Holds a connection that comes back as another account than the one that is there: a link is handed on, and a browser may be
 * signed in elsewhere. Nothing of the edit is stored as settings until a person says yes. Scripts name accounts: one that names
 * none is not held.
 *
 * @returns the details with what is held, and undefined where nothing is to be held
 */
export function holdOther(
  manifest: Manifest,
  { kind, settingDetails: details }: Level,
  edit: ConnectingEdit,
  now: number,
): { details: SettingDetails; names: string[]; account: string } | undefined {
  const { connection, configuration = {} } = edit
  if (connection === undefined || !('callback' in connection) || connection.account === undefined)
    return undefined
  // The name is a text of the script, which may quote a credential.
  const account = createRedactor(environmentSecrets({ installation: { configuration } }))(connection.account)
  const names = connectionNames(manifest, kind, connection).filter((name) => {
    const known = Object.hasOwn(details, name) ? details[name]?.connection?.account : undefined
    return known !== undefined && known !== account
  })
  if (names.length === 0) return undefined
  const held: HeldConnection = { account, at: now, edit }
  return { details: withHeld(details, names, held), names, account }
}

/** What has waited at a connection, and the details without it. `names`: one edit may have connected several buttons. */
type Taken<Edit> = { details: SettingDetails; edit: Edit; account: string; names: string[] }

/**
 * What is held at a connection, and the details without it.
 *
 * @param given.account as the person has read it
 * @throws AnnexError `conflict` when nothing is held there, or another account than the one that was read
 */
export function takeHeld<Edit extends ConnectingEdit>(
  manifest: Manifest,
  level: Level,
  { name, account, now }: { name: string; account?: string | undefined; now: number },
): Taken<Edit> {
  const held = heldAt(manifest, level, name, now)?.held
  if (held === undefined)
    throw new AnnexError(
      'conflict',
      `No account waits for a yes at the connection "${name}". An account waits for 24 hours: connect it again.`,
    )
  if (account !== undefined && held.account !== account)
    throw new AnnexError('conflict', `The account ${held.account} waits there by now. Read the level again.`)
  return take(level.settingDetails, held)
}

/** What has waited too long, with its credentials. */
export function takeExpired(details: SettingDetails, now: number): Taken<object> | undefined {
  const held = Object.values(details)
    .map(({ connection }) => connection?.held)
    .find((one) => one !== undefined && heldUntil(one) <= now)
  return held && take(details, held)
}

function take<Edit>(details: SettingDetails, { account, at, edit }: HeldConnection): Taken<Edit> {
  const names = Object.keys(details).filter((name) => {
    const other = details[name]?.connection?.held
    return other !== undefined && other.at === at && other.account === account
  })
  return { details: withHeld(details, names, undefined), edit: edit as Edit, account, names }
}

function withHeld(
  details: SettingDetails,
  names: readonly string[],
  held: HeldConnection | undefined,
): SettingDetails {
  const changed = names.map((name) => {
    const { held: _, ...connection } = details[name]?.connection ?? { since: 0 }
    return [name, { ...details[name], connection: { ...connection, ...(held && { held }) } }] as const
  })
  return { ...details, ...Object.fromEntries(changed) }
}
