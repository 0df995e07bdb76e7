import { eventRules, hasScopeFor } from '../../schemas/events.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { findRunning, type PlaceKind } from '../db/queries/installations.ts'
import { levelsTo, listPlaceRowsOn, type PlaceLevel } from '../db/queries/levels.ts'
import { eachInstallation } from '../db/queries/list-installations.ts'
import { findSite, findSpace } from '../db/queries/places.ts'
import { lockRecipients } from '../db/queries/suspensions.ts'
import { findDeployed } from '../installations/find-deployed.ts'
import { isBeingSetUp, statusReasonOf, whyPending } from '../installations/level-settings.ts'
import type { LevelRef } from '../sandbox/level-ref.ts'
import type { PublishedEvent } from './validate-event.ts'

/** The site or space of an event. */
export function placeOfEvent(event: PublishedEvent): { kind: PlaceKind; id: string } {
  const { kind } = eventRules[event.type]
  return { kind, id: String(event[`${kind}Id`]) }
}

/** A site or space installation that gets an event. */
export type EventLevel = Extract<LevelRef, { placeId: string }>

/** A level that gets an event. `waits`: its installation is paused or suspended. */
export type Recipient = { level: EventLevel; waits: boolean }

/** An event, and the organization that it was published for. */
type OrganizationEvent = { organizationId: string; event: PublishedEvent }

export type MatchReader = {
  /** True when the event's site or space belongs to its organization. */
  isInOrganization: (published: OrganizationEvent) => Promise<boolean>
  /** The levels that are installed in the event's site or space, set up, and have the scope. */
  recipientsOf: (published: OrganizationEvent) => Promise<Recipient[]>
}

/** Matches the events of one transaction. Events share reads of the database. */
export function createMatchReader(transaction: Db): MatchReader {
  const owners = new Map<string, Promise<string | undefined>>()
  const recipients = new Map<string, Promise<Recipient[]>>()
  return {
    async isInOrganization({ organizationId, event }) {
      const { kind, id } = placeOfEvent(event)
      const owner = await readOnce(owners, `${kind} ${id}`, () => ownerOf(transaction, kind, id))
      return owner === organizationId
    },
    recipientsOf({ organizationId, event }) {
      const key = `${organizationId} ${event.type} ${placeOfEvent(event).id}`
      return readOnce(recipients, key, () => matchingInstallations(transaction, organizationId, event))
    },
  }
}

function readOnce<Value>(
  readings: Map<string, Promise<Value>>,
  key: string,
  read: () => Promise<Value>,
): Promise<Value> {
  const found = readings.get(key) ?? read()
  readings.set(key, found)
  return found
}

async function ownerOf(db: Db, kind: PlaceKind, id: string): Promise<string | undefined> {
  const record = kind === 'site' ? await findSite(db, id) : await findSpace(db, id)
  return record?.organizationId
}

async function matchingInstallations(
  db: Db,
  organizationId: string,
  event: PublishedEvent,
): Promise<Recipient[]> {
  const { kind, id } = placeOfEvent(event)
  const levels: EventLevel[] = []
  for (const row of await listPlaceRowsOn(db, kind, id)) {
    if (row.status !== 'active') continue
    const running = await findRunning(db, row.installationId)
    if (running === undefined) continue
    const { installation, manifest } = running
    if (installation.organizationId !== organizationId || installation.removingAt !== null) continue
    if (!hasScopeFor(event.type, manifest?.scopes)) continue
    if (installation.status === 'pending' && !isBeingSetUp(manifest, installation, nowOf(db))) continue
    const levelsHere = levelsTo({ ...row, above: installation })
    if (levelsHere.some((level) => whyPending(manifest, level).length > 0)) continue
    const { integration } = installation
    levels.push({ kind, integration, installationId: installation.id, placeId: id })
  }
  const ids = levels.map(({ installationId }) => installationId)
  const held = ids.length === 0 ? new Map<string, boolean>() : await lockRecipients(db, ids)
  return levels.flatMap((level) => {
    const waits = held.get(level.installationId)
    return waits === undefined ? [] : [{ level, waits }]
  })
}

/** An installation that does not get an event, with the reason. */
export type Skipped = {
  installation: string
  integration: string
  reason: 'missing_scope' | 'settings_missing' | 'not_installed_there' | 'not_deployed'
  message: string
}

const mostShown = 20

/**
 * Explains which installations of the organization do not get an event: those in the event's site or space, and those
 * elsewhere that declare its scope.
 */
export async function explainSkipped(
  db: Db,
  organizationId: string,
  event: PublishedEvent,
): Promise<Skipped[]> {
  const { kind, id } = placeOfEvent(event)
  const there = new Map((await listPlaceRowsOn(db, kind, id)).map((one) => [one.installationId, one]))
  const skipped: Skipped[] = []
  for await (const installation of eachInstallation(db, { organizationId })) {
    if (skipped.length === mostShown) break
    const { id: installationId, integration } = installation
    const manifest = (await findDeployed(db, integration, installation))?.manifest
    const row = there.get(installationId)
    const why =
      row === undefined
        ? whyNotThere(manifest, event)
        : whyNot(manifest, event.type, { ...row, above: installation })
    if (why !== undefined) skipped.push({ installation: installationId, integration, ...why })
  }
  return skipped
}

type Why = Pick<Skipped, 'reason' | 'message'>

function whyNotThere(manifest: Manifest | undefined, event: PublishedEvent): Why | undefined {
  if (!hasScopeFor(event.type, manifest?.scopes)) return undefined
  const { kind, id } = placeOfEvent(event)
  return { reason: 'not_installed_there', message: `It is not installed in the ${kind} ${id}.` }
}

function whyNot(
  manifest: Manifest | undefined,
  type: PublishedEvent['type'],
  place: PlaceLevel,
): Why | undefined {
  if (manifest === undefined) {
    return { reason: 'not_deployed', message: 'Its integration has no deployed version.' }
  }
  if (!hasScopeFor(type, manifest.scopes)) {
    const scopes = eventRules[type].scopes.join(' or ')
    return { reason: 'missing_scope', message: `Its manifest does not declare the scope ${scopes}.` }
  }
  const { above: installation } = place
  const isPending = installation.accountStatus === 'pending'
  const isSetUp =
    place.status === 'active' && (!isPending || isBeingSetUp(manifest, installation, Date.now()))
  const settings = levelsTo(place).flatMap((level) => whyPending(manifest, level))
  if (isSetUp && settings.length === 0) return undefined
  const names = settings.map(({ path }) => path.replace('/configuration/', '')).join(', ')
  const [reason] = levelsTo(place)
    .toReversed()
    .flatMap((level) => statusReasonOf(manifest, level) ?? [])
  const notSetUp = reason ?? 'Its setup event is not handled yet.'
  const message = names === '' ? notSetUp : `Settings are missing or do not fit: ${names}.`
  return { reason: 'settings_missing', message }
}
