import { createSigningSecret } from '../../host/access/secret-box.ts'
import { insertInstallation } from '../../host/db/queries/installations.ts'
import { ensureIntegration } from '../../host/db/queries/integrations.ts'
import { insertOrganization } from '../../host/db/queries/organizations.ts'
import { box } from './host.ts'
import { type Report, runSeed } from './run-plan.ts'
import { createDisk } from './world/disk.ts'

export type Simulation = { run: (seed: number) => Promise<Report> }

/** One database for all seeds: what a seed stores goes before the next begins. */
export async function createSimulation(): Promise<Simulation> {
  let installationId = ''
  const signingSecret = box.seal(createSigningSecret())
  const disk = await createDisk(async (db) => {
    const organization = await insertOrganization(db, { subdomain: 'one', title: 'One' })
    const organizationId = organization?.id ?? ''
    await ensureIntegration(db, {
      name: 'example',
      organizationId,
      folder: '',
      loadedBy: null,
      signingSecret,
    })
    const installation = await insertInstallation(db, {
      integration: 'example',
      organizationId,
      signingSecret,
    })
    installationId = installation?.id ?? ''
  })
  return { run: (seed) => runSeed(seed, disk, installationId) }
}

/** The report for a reader who investigates a seed. */
export function describeReport({ seed, broken, plan, notes }: Report): string {
  const { receivers, events, ...rest } = plan
  const lines = [
    `seed ${seed}: ${broken ?? 'all rules hold'}`,
    `  SEED=${seed} make simulate`,
    `plan: ${JSON.stringify(rest)}`,
    ...receivers.map((receiver) => `receiver: ${JSON.stringify(receiver)}`),
    `events: ${events.map(({ at, receiver, eventId }) => `${at} ${eventId} to ${receiver.id}`).join(', ')}`,
    ...notes.slice(-200),
  ]
  return lines.join('\n')
}
