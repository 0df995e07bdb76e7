import { eventRules, hasScopeFor } from '../../schemas/events.ts'
import type { Db } from '../db/db.ts'
import { listInstallationsOn, type TargetKind } from '../db/queries/installed/installation-targets.ts'
import { findInstallation } from '../db/queries/installed/installations.ts'
import { lockTaking } from '../db/queries/installed/suspensions.ts'
import { findSite } from '../db/queries/records/sites.ts'
import { findSpace } from '../db/queries/records/spaces.ts'
import { findDeployed } from '../installations/find-deployed.ts'
import { whyPending } from '../installations/level-settings.ts'
import type { Level } from '../sandbox/level.ts'
import type { PublishedEvent } from './validate-event.ts'

/** Where an event's field names the site or space that it happened in. */
export function placeOf(event: PublishedEvent): { kind: TargetKind; id: string } {
  const { kind } = eventRules[event.type]
  return { kind, id: String(event[`${kind}Id`]) }
}

/** A site or space installation that an event concerns. */
export type EventLevel = Extract<Level, { targetId: string }>

/** A level that an event is stored for. `waits`: its installation is paused, suspended or moving. */
export type Taker = { level: EventLevel; waits: boolean }

type Happened = { organizationId: string; event: PublishedEvent }

export type MatchReader = {
  /** Whether the event's place is its organization's. */
  isPlaceTheirs: (happened: Happened) => Promise<boolean>
  /** The levels whose scripts take the event: installed there, set up, and with the scope declared. */
  takersOf: (happened: Happened) => Promise<Taker[]>
}

/** Reads for the events of one transaction; what several of them ask for is read once. */
export function createMatchReader(transaction: Db): MatchReader {
  const owners = new Map<string, Promise<string | undefined>>()
  const takers = new Map<string, Promise<Taker[]>>()
  return {
    async isPlaceTheirs({ organizationId, event }) {
      const { kind, id } = placeOf(event)
      const owner = await readOnce(owners, `${kind} ${id}`, () => ownerOf(transaction, kind, id))
      return owner === organizationId
    },
    takersOf({ organizationId, event }) {
      const key = `${organizationId} ${event.type} ${placeOf(event).id}`
      return readOnce(takers, key, () => matchingInstallations(transaction, organizationId, event))
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

async function ownerOf(db: Db, kind: TargetKind, id: string): Promise<string | undefined> {
  const place = kind === 'site' ? await findSite(db, id) : await findSpace(db, id)
  return place?.organizationId
}

async function matchingInstallations(
  db: Db,
  organizationId: string,
  event: PublishedEvent,
): Promise<Taker[]> {
  const { kind, id } = placeOf(event)
  const levels: EventLevel[] = []
  for (const target of await listInstallationsOn(db, kind, id)) {
    if (target.status !== 'active') continue
    const installation = await findInstallation(db, target.installationId)
    if (installation?.organizationId !== organizationId) continue
    const manifest = (await findDeployed(db, installation.integration))?.manifest
    if (!hasScopeFor(event.type, manifest?.scopes)) continue
    const levelsHere = [{ installation }, { installation, target }]
    if (levelsHere.some((level) => whyPending(manifest, level).length > 0)) continue
    const { integration } = installation
    levels.push({ kind, integration, installationId: installation.id, targetId: id })
  }
  const ids = levels.map(({ installationId }) => installationId)
  const taking = ids.length === 0 ? new Map<string, boolean>() : await lockTaking(db, ids)
  return levels.flatMap((level) => {
    const waits = taking.get(level.installationId)
    return waits === undefined ? [] : [{ level, waits }]
  })
}
