import type { Knex } from 'knex'
import type { InstallationStatus } from '../../../schemas/generated/installation-status.ts'
import type { Manifest } from '../../../schemas/generated/manifest.ts'
import type { Db } from '../db.ts'
import { createId } from '../ids.ts'
import { openJson, sealJson } from '../sealed-json.ts'

/** The spec's section 3 names `active` alone. docs/plugins.md describes the other statuses. */
export type { InstallationStatus }

const statuses: readonly InstallationStatus[] = ['pending', 'active', 'paused', 'suspended']

/** A site or a space. */
export type PlaceKind = 'site' | 'space'

/** Names the row of a level. `placeId` is empty for an account. */
export type LevelKey = { installationId: string; kind: 'account' | PlaceKind; placeId: string }

export type Configuration = Record<string, unknown>

/** A connection with another account that waits for a person's yes. `edit`: what its script would have stored, with credentials. */
export type HeldConnection = { account: string; at: number; edit: object }

/** The account waits this long for a yes. */
export const heldLifetimeMs = 86_400_000

/** What Annex knows of settings, by their names. Scripts do not get it. */
export type SettingDetails = Record<
  string,
  {
    /** The text that stands for the value in a list of choices. */
    label?: { value: string; label: string }
    /** What the value is stored as. Missing: a script has stored it beside the settings. */
    kind?: 'setting' | 'connection'
    /** The value was entered as a secret, and stays one, also in versions that declare no secret there. */
    secret?: true
    /** A person typed the value, which names a host: deliveries go there beside the hosts of `egress`. */
    typed?: true
    connection?: {
      since: number
      account?: string
      error?: string
      /** The end of credentials that the script cannot renew, in Unix ms. */
      endsAt?: number
      /** A script renews its tokens until then. */
      claimedUntil?: number
      held?: HeldConnection
    }
  }
>

/** The secrets that sign for a level, encrypted. */
export type Signer = {
  signingSecret: string
  /** The secret before a rotation. It signs too until `previousSecretUntil`. */
  previousSigningSecret: string | null
  previousSecretUntil: number | null
  /** The secret that signs first, for receivers that read only one signature. */
  firstSecret: 'new' | 'old' | null
}

/** What an installation and each of its sites and spaces has: settings and a signing secret of its own. */
export type LevelColumns = Signer & {
  status: InstallationStatus
  /** Why it is suspended, or why its setup has failed. */
  statusReason: string | null
  configuration: Configuration
  settingDetails: SettingDetails
  /** True: settings and details were encrypted with another key. They are empty here. */
  isUnreadable: boolean
  externalIds: string[]
  createdAt: number
  updatedAt: number
  /** An uninstall has begun. Only the script sees the level now, for its last event. */
  removingAt: number | null
}

export type Selection = 'all' | 'selected'

/** The level of an account, which is above those of its sites and spaces. */
export type Installation = LevelColumns & {
  kind: 'account'
  placeId: ''
  above?: never
  id: string
  integration: string
  organizationId: string
  /** `all`: a new space or site gets the integration at once. */
  spaceSelection: Selection
  siteSelection: Selection
  /** The status without the hold. */
  accountStatus: 'pending' | 'active'
  /** A pause or a suspension. It is the status meanwhile. */
  hold: 'paused' | 'suspended' | null
  /** Start of a suspension; the suspended version. */
  suspendedAt: number | null
  suspendedDigest: string | null
  /** The version that it goes on with, until its organization agrees to a newer one. Null: the deployed version. */
  heldVersionId: string | null
  /** Requests of the waiting version that did not reach it. */
  missedCalls: number
  /** When the count of its uses of permissions began. Null: when it was installed. */
  usesCountedSince: number | null
}

/** @returns undefined when the organization has the integration already */
export async function insertInstallation(
  db: Db,
  given: { integration: string; organizationId: string; signingSecret: string },
): Promise<Installation | undefined> {
  const createdAt = Date.now()
  const { signingSecret, ...rest } = given
  const [inserted] = await db('installations')
    .insert({ id: createId('inst'), ...rest, createdAt })
    .onConflict(db.raw('(integration, organization_id) where removing_at is null') as never)
    .ignore()
    .returning('id')
  if (inserted === undefined) return undefined
  const key = { installationId: inserted.id, kind: 'account', placeId: '' }
  await db('levels').insert({ ...key, ...newLevel(signingSecret, createdAt) })
  return findInstallation(db, inserted.id)
}

/** The columns of a level that is pending, without settings. */
export const newLevel = (signingSecret: string, createdAt: number) => ({
  status: 'pending',
  configuration: '{}',
  externalIds: '[]',
  signingSecret,
  createdAt,
  updatedAt: createdAt,
})

/** Installations with the columns of their accounts: those that have not ended. */
export const installationRows = (db: Db): Knex.QueryBuilder =>
  db('installations')
    // SQLite keeps to the order of a cross join.
    .crossJoin('levels' as never)
    .where('levels.installationId', db.ref('installations.id'))
    .where('levels.kind', 'account')
    .select('levels.*', 'installations.*')

/** Also an installation that is being uninstalled. */
export async function findInstallation(db: Db, id: string): Promise<Installation | undefined> {
  const row = await installationRows(db).where({ id }).first()
  return row && toInstallation(db, row)
}

/**
 * An installation with the manifest of the version that it runs. Without a deployed version it runs none: both ids are null
 * then.
 */
export type Running = {
  installation: Installation
  manifest: Manifest | undefined
  /** The version that it runs. */
  versionId: string | null
  versionNumber: number | undefined
  deployedId: string | null
}

export async function findRunning(db: Db, id: string): Promise<Running | undefined> {
  return (await listRunning(db, [id]))[0]
}

/** As `findRunning`, of these installations. */
export async function listRunning(db: Db, ids: readonly string[]): Promise<Running[]> {
  type Row = StoredInstallation & { versionId: string | null; manifest: string | null; number: number }
  const rows: Row[] = await installationRows(db)
    .leftJoin('integrations', 'integrations.name', 'installations.integration')
    .leftJoin(
      'versions',
      'versions.id',
      db.raw('coalesce(??, ??)', ['installations.heldVersionId', 'integrations.versionId']),
    )
    .whereIn('installations.id', ids)
    .select('integrations.versionId', 'versions.manifest', 'versions.number')
  return rows.map(({ versionId: deployedId, manifest, number, ...installation }) => {
    const text = deployedId === null ? null : manifest
    return {
      installation: toInstallation(db, installation),
      manifest: text === null ? undefined : JSON.parse(text),
      versionId: deployedId && (installation.heldVersionId ?? deployedId),
      versionNumber: text === null ? undefined : number,
      deployedId,
    }
  })
}

/** Locks the installation: other edits wait for the transaction. @returns undefined when it has ended */
export async function lockInstallation(transaction: Db, id: string): Promise<Installation | undefined> {
  const row = await installationRows(transaction).where({ id }).forUpdate().first()
  return row && toInstallation(transaction, row)
}

/** The installations of an integration, also those that are being uninstalled. */
export async function listRemaining(db: Db, integration: string): Promise<Installation[]> {
  const rows: StoredInstallation[] = await installationRows(db)
    .where({ integration })
    .orderBy('installations.createdAt')
  return rows.map((row) => toInstallation(db, row))
}

/** Counts installations by status. A status without installations counts 0. */
export async function countInstallations(db: Db): Promise<{ status: InstallationStatus; count: number }[]> {
  const rows: { status: InstallationStatus; count: number | string }[] = await countByStatus(db, ['status'])
  const counts = new Map(rows.map(({ status, count }) => [status, Number(count)]))
  return statuses.map((status) => ({ status, count: counts.get(status) ?? 0 }))
}

/** Counts installations that are not being uninstalled, by status and other columns. */
export const countByStatus = (db: Db, columns: readonly string[]): Knex.QueryBuilder => {
  const rows = installationRows(db)
    .clearSelect()
    .whereNull('installations.removingAt')
    .select('integration', db.raw('coalesce(hold, levels.status) as status'))
  const counted: Knex.QueryBuilder = db.from(rows.as('counted') as never)
  return counted
    .select(...columns)
    .count({ count: '*' })
    .groupBy(...columns)
}

const selectionOf = (kind: PlaceKind) => `${kind}Selection` as const

export async function updateSelection(
  db: Db,
  id: string,
  kind: PlaceKind,
  selection: Selection,
): Promise<void> {
  await db('installations')
    .where({ id })
    .update({ [selectionOf(kind)]: selection })
  await noteChange(db, [id])
}

/** The installations of an organization that select all spaces, or all sites. They are locked. */
export async function listSelectingAll(
  transaction: Db,
  kind: PlaceKind,
  organizationId: string,
): Promise<Installation[]> {
  const rows: StoredInstallation[] = await installationRows(transaction)
    .where({ organizationId, [selectionOf(kind)]: 'all' })
    .whereNull('installations.removingAt')
    .orderBy('id')
    .forUpdate()
  return rows.map((row) => toInstallation(transaction, row))
}

/** Notes that installations have changed otherwise than in their settings. */
export async function noteChange(db: Db, ids: readonly string[]): Promise<void> {
  await db('levels')
    .whereIn('installationId', ids)
    .where({ kind: 'account' })
    .update({ updatedAt: Date.now() })
}

/** The columns of a change to a level. */
export function toRow(
  db: Db,
  change: {
    status?: string
    statusReason?: string | null
    configuration?: Configuration
    settingDetails?: SettingDetails
    externalIds?: string[]
  },
): Record<string, unknown> {
  const { configuration, settingDetails, externalIds, ...rest } = change
  return {
    ...rest,
    ...(configuration === undefined ? {} : { configuration: sealJson(db, configuration) }),
    ...(settingDetails === undefined ? {} : { settingDetails: sealDetails(db, settingDetails) }),
    ...(externalIds === undefined ? {} : { externalIds: JSON.stringify(externalIds) }),
    updatedAt: Date.now(),
  }
}

/** The columns that hold JSON, as they are stored. */
type JsonColumns = { configuration: string; settingDetails: string; externalIds: string }

/** A level as it is stored. */
export type Stored<Columns> = Omit<Columns, keyof JsonColumns | 'isUnreadable'> & JsonColumns

export type StoredInstallation = Stored<Omit<Installation, 'accountStatus' | 'above'>> & {
  holdReason: string | null
}

export function toInstallation(db: Db, row: StoredInstallation): Installation {
  const { holdReason, ...columns } = row
  const accountStatus = row.status === 'pending' ? 'pending' : 'active'
  const shown = row.hold === null ? {} : { status: row.hold, statusReason: holdReason }
  return { ...columns, ...openColumns(db, row), accountStatus, ...shown }
}

export function openColumns(db: Db, row: JsonColumns) {
  const configuration: Configuration | undefined = openJson(db, row.configuration)
  const settingDetails = openDetails(db, row.settingDetails)
  return {
    configuration: configuration ?? {},
    settingDetails: settingDetails ?? {},
    isUnreadable: configuration === undefined || settingDetails === undefined,
    externalIds: JSON.parse(row.externalIds) as string[],
  }
}

/**
 * Each setting's details are encrypted, but for its marks, which migrations write. A query finds a connection with
 * an error, an end or a held account by the names beside them.
 */
function sealDetails(db: Db, details: SettingDetails): string {
  const sealed = Object.entries(details).map(([name, { kind, secret, typed, ...one }]) => {
    const { error, endsAt, held } = one.connection ?? {}
    const names = {
      ...(kind !== undefined && { kind }),
      ...(secret === true && { secret }),
      ...(typed === true && { typed }),
      ...(error !== undefined && { error: true }),
      ...(endsAt !== undefined && { endsAt: true }),
      ...(held !== undefined && { held: true }),
    }
    return [name, { sealed: sealJson(db, one), ...names }]
  })
  return JSON.stringify(Object.fromEntries(sealed))
}

/** @returns undefined when they were encrypted with another key */
export function openDetails(db: Db, stored: string): SettingDetails | undefined {
  const entries = Object.entries<
    { sealed: string } & Pick<SettingDetails[string], 'kind' | 'secret' | 'typed'>
  >(JSON.parse(stored))
  const opened = entries.map(([name, { sealed, kind, secret, typed }]) => {
    const one = openJson(db, sealed)
    const marks = {
      ...(kind && { kind }),
      ...(secret === true && { secret }),
      ...(typed === true && { typed }),
    }
    return [name, one && { ...one, ...marks }] as const
  })
  return opened.some(([, one]) => one === undefined)
    ? undefined
    : (Object.fromEntries(opened) as SettingDetails)
}
