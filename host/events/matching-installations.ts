import type { PublishableEventType } from '../../schemas/events.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Db } from '../db/open-database.ts'
import { listInstallationsOn, type TargetKind } from '../db/queries/installation-targets.ts'
import { findInstallation } from '../db/queries/installations.ts'
import { findDeployed } from '../installations/find-deployed.ts'
import type { Level } from '../sandbox/level.ts'
import type { PublishedEvent } from './validate-event.ts'

/** Where an event happens (spec 6.2), and the scope without which no script learns of it. */
const rules: Record<PublishableEventType, { kind: TargetKind; scope: Manifest['scopes'][number] }> = {
  space_content_updated: { kind: 'space', scope: 'space:content:read' },
  site_view: { kind: 'site', scope: 'site:views:read' },
  page_feedback: { kind: 'site', scope: 'site:views:read' },
}

/** Where an event's field names the site or space that it happened in. */
export function placeOf(event: PublishedEvent): { kind: TargetKind; id: string } {
  const { kind } = rules[event.type]
  return { kind, id: String(event[`${kind}Id`]) }
}

/** The levels whose scripts the event is owed to: installed there, active, and with the scope declared. */
export async function matchingInstallations(
  db: Db,
  organizationId: string,
  event: PublishedEvent,
): Promise<Extract<Level, { targetId: string }>[]> {
  const { kind, id } = placeOf(event)
  const levels: Extract<Level, { targetId: string }>[] = []
  for (const target of await listInstallationsOn(db, kind, id)) {
    const installation = await findInstallation(db, target.installationId)
    if (installation?.organizationId !== organizationId) continue
    if (installation.status !== 'active' || target.status !== 'active') continue
    const scopes = (await findDeployed(db, installation.integration))?.manifest.scopes ?? []
    if (!scopes.includes(rules[event.type].scope)) continue
    const { integration } = installation
    levels.push({ kind, integration, installationId: installation.id, targetId: id })
  }
  return levels
}
