import { assertFits } from '../assert-json.ts'
import { maxDeliveryBytes } from '../config/json-sizes.ts'
import type { Db } from '../db/db.ts'
import type { GroupCommit } from '../db/group-commit.ts'
import { createId } from '../db/ids.ts'
import { queueDeliveries } from '../db/queries/deliveries.ts'
import { AnnexError } from '../errors.ts'
import type { BacklogQuota } from '../queue/backlog.ts'
import type { HostCall } from '../sandbox/host-calls.ts'
import type { DispatchContext } from '../sandbox/target.ts'
import type { DeliveryHosts } from './delivery-hosts.ts'

type Args = { url: string; event: { type: string; eventId?: string; [field: string]: unknown } }

/**
 * `context.integration.queueDelivery({ url, event })`: stores a delivery before the script continues. It is signed with the
 * secret of the dispatch's level, and sent until it is delivered or has used up its retries.
 *
 * A handler that runs again for the same event gets the delivery of its first run.
 */
export function createDeliveryCall(
  db: Db,
  parts: { commits: GroupCommit; backlog: BacklogQuota; hosts: DeliveryHosts },
): HostCall<Args> {
  const { commits, backlog, hosts } = parts
  return {
    name: 'delivery',
    args: {
      type: 'object',
      required: ['url', 'event'],
      additionalProperties: false,
      properties: {
        url: { type: 'string', maxLength: 2048 },
        event: {
          type: 'object',
          required: ['type'],
          properties: {
            type: { type: 'string', maxLength: 100 },
            // The id is sent in a header.
            eventId: { type: 'string', pattern: '^[!-~]{1,200}$' },
          },
        },
      },
    },
    async run({ url, event }, { context }) {
      const { installationId } = context
      if (installationId === undefined) {
        throw new AnnexError(
          'conflict',
          'A delivery belongs to an installation, and this dispatch is for none.',
        )
      }
      assertIsPlain('url', url)
      assertIsPlain('type', event.type)
      assertIsHttp(url)
      const { integration, declaredHosts: egress, settings: configurations } = context
      const signedBy = signerOf(context)
      await hosts.assertAllowed(
        db,
        { installationId, signedBy, url },
        { integration, egress, configurations },
      )
      const body = JSON.stringify(event)
      assertFits(body, maxDeliveryBytes, tooLarge)
      await backlog.take(installationId, Buffer.byteLength(body))
      const { id, created } = await commits.store(queueDeliveries, {
        installationId,
        eventId: context.event?.id ?? event.eventId ?? createId('evt'),
        eventType: event.type,
        signedBy,
        url,
        body,
        hops: context.hops,
        requestId: context.requestId,
      })
      return { value: { id, created } }
    },
  }
}

/** Names the level whose secret signs the delivery. */
function signerOf({ level }: Pick<DispatchContext, 'level'>): string {
  return 'placeId' in level ? `${level.kind}:${level.placeId}` : 'installation'
}

const tooLarge = (bytes: number): string =>
  `The event of a delivery has ${bytes} bytes as JSON, and at most ${maxDeliveryBytes} are sent. Send an address where the receiver gets the rest.`

/** PostgreSQL refuses U+0000. SQLite changes half of a surrogate pair, so a later query would not find the delivery. */
function assertIsPlain(name: string, text: string): void {
  if (text.isWellFormed() && !text.includes('\0')) return
  throw new AnnexError('bad_request', `The ${name} of a delivery holds U+0000, or half of a surrogate pair.`)
}

export function isHttp(url: string): boolean {
  const protocol = URL.parse(url)?.protocol
  return protocol === 'http:' || protocol === 'https:'
}

function assertIsHttp(url: string): void {
  const parsed = URL.parse(url)
  if (parsed?.username || parsed?.password) {
    // The egress guard would refuse each attempt.
    const text = `The URL of a delivery to ${parsed.host} holds a user name or password. Leave them out: the signature identifies the sender.`
    throw new AnnexError('bad_request', text)
  }
  if (isHttp(url)) return
  throw new AnnexError('bad_request', `"${url.slice(0, 200)}" is not an http or https URL.`)
}
