import { eventRules, hasScopeFor } from '../../schemas/events.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Db } from '../db/db.ts'
import { listInstallationsOn } from '../db/queries/installed/installation-targets.ts'
import { listInstallations } from '../db/queries/installed/installations.ts'
import { findDeployed } from '../installations/find-deployed.ts'
import { type InstalledLevel, whyPending } from '../installations/level-settings.ts'
import { placeOf } from './match-installations.ts'
import type { PublishedEvent } from './validate-event.ts'

/** An installation that an event has passed by, and why. */
export type Skipped = {
  installation: string
  integration: string
  reason: 'scope_missing' | 'settings_missing' | 'not_installed_there' | 'not_deployed'
  message: string
}

const mostShown = 20

/**
 * Which installations of the organization would have taken the event, and why each did not: those that are installed where it
 * happened, and those that are installed elsewhere and declare its scope.
 */
export async function explainSkipped(
  db: Db,
  organizationId: string,
  event: PublishedEvent,
): Promise<Skipped[]> {
  const { kind, id } = placeOf(event)
  const there = new Map((await listInstallationsOn(db, kind, id)).map((one) => [one.installationId, one]))
  const skipped: Skipped[] = []
  for (const installation of await listInstallations(db, { organizationId })) {
    if (skipped.length === mostShown) break
    const { id: installationId, integration } = installation
    const manifest = (await findDeployed(db, integration))?.manifest
    const target = there.get(installationId)
    const why =
      target === undefined
        ? whyNotThere(manifest, event)
        : whyNot(manifest, event.type, { installation, target })
    if (why !== undefined) skipped.push({ installation: installationId, integration, ...why })
  }
  return skipped
}

type Why = Pick<Skipped, 'reason' | 'message'>

function whyNotThere(manifest: Manifest | undefined, event: PublishedEvent): Why | undefined {
  if (!hasScopeFor(event.type, manifest?.scopes)) return undefined
  const { kind, id } = placeOf(event)
  return { reason: 'not_installed_there', message: `It is not installed in the ${kind} ${id}.` }
}

function whyNot(
  manifest: Manifest | undefined,
  type: PublishedEvent['type'],
  { installation, target }: Required<InstalledLevel>,
): Why | undefined {
  if (manifest === undefined) {
    return { reason: 'not_deployed', message: 'Its integration has no deployed version.' }
  }
  if (!hasScopeFor(type, manifest.scopes)) {
    const scopes = eventRules[type].scopes.join(' or ')
    return { reason: 'scope_missing', message: `Its manifest does not declare the scope ${scopes}.` }
  }
  const isSetUp =
    target.status === 'active' && ![installation.status, installation.suspendedFrom].includes('pending')
  const settings = [{ installation }, { installation, target }].flatMap((level) =>
    whyPending(manifest, level),
  )
  if (isSetUp && settings.length === 0) return undefined
  const names = settings.map(({ path }) => path).join(', ')
  const message =
    names === '' ? 'Its setup event is not handled yet.' : `Settings are missing or do not fit: ${names}.`
  return { reason: 'settings_missing', message }
}
