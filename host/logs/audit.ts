import type { Origin } from '../access/actor.ts'
import { announce } from '../db/announce.ts'
import type { Db } from '../db/db.ts'
import { insertAudit } from '../db/queries/audit.ts'
import { createRedactor } from './create-redactor.ts'

/** What a change was done to, and what it was. */
export type AuditEntry = {
  /** The subject and the verb: `settings.change`. */
  action: AuditAction
  organizationId: string | null
  subject: { kind: string; id: string }
  before?: object
  after?: object
  /** Values that the entry must not show, wherever they stand in it. */
  secrets?: [name: string, value: string][]
}

/** All actions. docs/audit.md lists them. */
export const auditActions = [
  ...['installation.create', 'installation.delete', 'installation.pause', 'installation.resume'],
  'installation.select',
  ...['installation.suspend', 'settings.change', 'secret.rotate', 'secret.end_overlap', 'grant.create'],
  ...['version.deploy', 'version.roll_back', 'version.unpin', 'integration.retire', 'integration.prune'],
  ...['integration.suspend', 'integration.resume', 'receiver.change', 'receiver.pause', 'receiver.resume'],
  ...['job.discard', 'job.run', 'delivery.send', 'delivery.send_failed', 'receiver.send_example'],
  ...['connection.link', 'connection.create', 'connection.hold', 'connection.refuse'],
  'connection.expire',
  ...['organization.create', 'organization.change', 'organization.delete'],
  ...['site.create', 'site.change', 'site.delete', 'space.create', 'space.change', 'space.delete'],
  'content.change',
  ...['member.create', 'member.change', 'member.delete', 'token.create', 'token.revoke'],
  ...['token.mint', 'setup.redeem'],
  ...['account.create', 'account.change', 'account.reset', 'passkey.create', 'passkey.delete'],
  ...['openid.link', 'openid.unlink'],
  ...['session.create', 'session.confirm', 'session.end'],
  ...['invitation.create', 'invitation.accept', 'reset_link.create'],
  ...['install_link.create', 'install_link.revoke'],
] as const satisfies readonly `${string}.${string}`[]

export type AuditAction = (typeof auditActions)[number]

/**
 * Writes an entry of the audit, in the transaction of its change: neither is stored without the other. Its commit announces
 * the change to the caches and workers of all hosts.
 */
export async function recordAudit(transaction: Db, origin: Origin, entry: AuditEntry): Promise<void> {
  const { action, organizationId, subject, before, after, secrets = [] } = entry
  const redact = createRedactor(secrets)
  const short = new Set(secrets.map(([, value]) => value))
  // Each text by itself: one may be JSON again, where a secret is escaped twice.
  const mask = (_key: string, one: unknown): unknown =>
    typeof one !== 'string' ? one : short.has(one) ? '[secret]' : redact(one)
  const masked = (value: object | undefined): object | null =>
    value === undefined ? null : JSON.parse(JSON.stringify(value, mask))
  await insertAudit(transaction, {
    organizationId,
    actorKind: origin.actor.kind,
    actorId: origin.actor.id,
    action,
    subjectKind: subject.kind,
    subjectId: subject.id,
    before: masked(before),
    after: masked(after),
    requestId: origin.requestId,
    address: origin.address,
  })
  announce(transaction, 'changed')
}
