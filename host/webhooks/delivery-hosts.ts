import type { Manifest } from '../../schemas/generated/manifest.ts'
import { cacheReads } from '../cache.ts'
import type { Db } from '../db/db.ts'
import type { DeliveryToSend } from '../db/queries/deliveries.ts'
import { findInstallation, type Installation } from '../db/queries/installations.ts'
import { findPlaceLevel, readPlaceLevels } from '../db/queries/levels.ts'
import type { ReceiverKey } from '../db/queries/receivers.ts'
import { isDeclared, nameOfHost } from '../egress/declared-hosts.ts'
import { AnnexError } from '../errors.ts'
import { findDeployed } from '../installations/find-deployed.ts'
import { hasTypedHost } from '../installations/typed-hosts.ts'
import { keyOfSigner } from './signing-secrets.ts'

/** The part of a manifest that says where deliveries may go. */
type Declaring = {
  integration: string
  egress: readonly string[] | undefined
  configurations: Manifest['configurations'] | undefined
}

export type DeliveryHosts = {
  /**
   * For a delivery that is being queued.
   *
   * @throws AnnexError `egress_refused`, which names the field of the manifest and the missing entry
   */
  assertAllowed: (db: Db, receiver: ReceiverKey, manifest: Declaring) => Promise<void>
  /**
   * For deliveries that are being sent: a version or a setting may have changed since.
   *
   * @returns the reasons of those that may not go, by their ids
   */
  findRefused: (db: Db, deliveries: readonly DeliveryToSend[]) => Promise<ReadonlyMap<string, string>>
}

/**
 * The hosts of deliveries. Where a manifest has `egress`, a delivery goes to one of its hosts, or to a host that a person typed in
 * a setting of the installation, at any of its levels.
 *
 * @param given.isRequired EGRESS_REQUIRE_DECLARED: a manifest without `egress` declares no host
 */
export function createDeliveryHosts({ isRequired }: { isRequired: boolean }): DeliveryHosts {
  const isOpen = ({ egress }: Declaring) => egress === undefined && !isRequired
  const running = cacheReads({
    keyOf: ({ receiver }: { db: Db; receiver: ReceiverKey }) => receiver.installationId,
    read: ({ db, receiver }) => findRunning(db, receiver.installationId),
  })
  const mayGo = async (db: Db, receiver: ReceiverKey, found: Running | undefined) =>
    found === undefined || isOpen(found.manifest) || isAllowed(db, receiver, found)

  async function whyNot(db: Db, receiver: ReceiverKey): Promise<string | undefined> {
    if (await mayGo(db, receiver, await running.get({ db, receiver }))) return undefined
    // A refusal ends the delivery. The version or the setting that allows it may be newer than the cache.
    const found = await findRunning(db, receiver.installationId)
    if (found === undefined || (await mayGo(db, receiver, found))) return undefined
    const { code, message } = toError(receiver, found.manifest)
    return `${code}: ${message}`
  }

  return {
    async assertAllowed(db, receiver, manifest) {
      if (isOpen(manifest) || (await isAllowed(db, receiver, { manifest }))) return
      throw toError(receiver, manifest)
    },
    async findRefused(db, deliveries) {
      const reasons = new Map<string, string | undefined>()
      const refused = new Map<string, string>()
      for (const delivery of deliveries) {
        const { installationId, signedBy, url } = delivery
        const key = `${installationId} ${signedBy} ${URL.parse(url)?.host}`
        if (!reasons.has(key)) reasons.set(key, await whyNot(db, delivery))
        const reason = reasons.get(key)
        if (reason !== undefined) refused.set(delivery.id, reason)
      }
      return refused
    },
  }
}

type Running = { installation: Installation; manifest: Declaring }

/** @returns undefined for an installation that is gone, or runs no version: its deliveries were checked when they were queued */
async function findRunning(db: Db, id: string): Promise<Running | undefined> {
  const installation = await findInstallation(db, id)
  const deployed = installation && (await findDeployed(db, installation.integration, installation))
  if (installation === undefined || deployed === undefined) return undefined
  const { name: integration, egress, configurations } = deployed.manifest
  return { installation, manifest: { integration, egress, configurations } }
}

async function isAllowed(
  db: Db,
  { installationId, signedBy, url: text }: ReceiverKey,
  { manifest, ...known }: { manifest: Declaring; installation?: Installation },
): Promise<boolean> {
  const url = URL.parse(text)
  if (url === null || isDeclared(url, manifest.egress)) return true
  const { configurations } = manifest
  const installation = known.installation ?? (await findInstallation(db, installationId))
  if (installation === undefined) return false
  if (hasTypedHost(configurations, installation, url)) return true
  const { kind, placeId } = keyOfSigner({ installationId, signedBy })
  // Mostly the host is that of the own level. An installation may have thousands of others.
  const own = kind === 'account' ? undefined : await findPlaceLevel(db, installation, { kind, placeId })
  if (own !== undefined && hasTypedHost(configurations, own, url)) return true
  const places = await readPlaceLevels(db, installation)
  return places.some((place) => hasTypedHost(configurations, place, url))
}

function toError({ installationId, url }: ReceiverKey, { integration, egress }: Declaring): AnnexError {
  const host = nameOfHost(new URL(url))
  const says =
    egress === undefined
      ? 'its manifest declares no host, and the operator requires "egress" (EGRESS_REQUIRE_DECLARED)'
      : `its manifest says "egress: [${egress.join(', ')}]"`
  return new AnnexError(
    'egress_refused',
    `A delivery of ${integration} may not go to ${host}: ${says}, and no person typed this host in a setting of ${installationId}. Add "${host}" to "egress" in the manifest, or type the address in a setting.`,
    { details: [{ path: '/egress', message: host }] },
  )
}
