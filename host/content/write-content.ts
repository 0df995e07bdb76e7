import { setTimeout as sleep } from 'node:timers/promises'
import type { Origin } from '../access/actor.ts'
import type { Db } from '../db/db.ts'
import type { GroupCommit, Step } from '../db/group-commit.ts'
import { createId } from '../db/ids.ts'
import { bytesOf, endedBytes } from '../db/queries/content-bytes.ts'
import { dropDraft, endPages, insertPages, listPages, type PageHead } from '../db/queries/pages.ts'
import type { Space } from '../db/queries/places.ts'
import {
  type Author,
  beginDraft,
  createRevision,
  endDraft,
  findCurrentRevision,
  insertRevision,
  keepDraft,
  type Revision,
} from '../db/queries/revisions.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { type Publishing, type PublishReceipt, storeEvents, toPublishing } from '../events/publish-event.ts'
import type { PublishedEvent } from '../events/validate-event.ts'
import { type AuditEntry, recordAudit } from '../logs/audit.ts'
import { countContent } from './content-quota.ts'
import { type Plan, planRevision, type WantedPage } from './plan-revision.ts'

/** Who makes a revision: as readers see it, and as the audit has it. */
export type By = { author: Author; origin: Origin }

export type ContentWriter = {
  /**
   * Makes the next revision of a space, and its event. Writers of a space take turns.
   *
   * @param want gets the current pages, and the number of their revision. @returns those of the next revision
   * @returns undefined when nothing differs
   * @throws AnnexError `conflict` while another host writes, `content_quota`
   */
  write: (
    space: Space,
    by: By,
    want: (current: PageHead[], number: number) => WantedPage[],
  ) => Promise<Revision | undefined>
}

export type ContentParts = {
  db: Db
  commits: GroupCommit
  hostId: string
  /** Of the pages of an organization's kept revisions. 0: no limit. */
  quotaBytes: number
  /** Called when an event is stored. */
  onPublished: (type: string, receipt: PublishReceipt) => void
}

/** A host that has died stops others no longer than this. */
const draftMs = 30_000
const waitMs = 10_000
const pauseMs = 50
/** A step stores so many rows, or so much text, and other writes go on between two steps. */
const stepRows = 100
const stepBytes = 256 * 1024

/**
 * Rows of the next revision are stored in steps. Readers do not see them, as their numbers are above the current one. The
 * last step makes the revision current and stores its event. A draft of a host that was killed is dropped by the next one.
 */
export function createContentWriter({
  db,
  commits,
  hostId,
  quotaBytes,
  onPublished,
}: ContentParts): ContentWriter {
  const turns = new Map<string, Promise<void>>()
  return {
    write(space, by, want) {
      const turn = (turns.get(space.id) ?? Promise.resolve()).then(() => writeInTurn(space, by, want))
      const settled: Promise<void> = turn
        .then(
          () => {},
          () => {},
        )
        .then(() => {
          if (turns.get(space.id) === settled) turns.delete(space.id)
        })
      turns.set(space.id, settled)
      return turn
    },
  }

  async function writeInTurn(
    space: Space,
    { author, origin }: By,
    want: Parameters<ContentWriter['write']>[2],
  ): Promise<Revision | undefined> {
    const number = await begin(space.id)
    try {
      const current = number === 0 ? [] : await listPages(db, { spaceId: space.id, number })
      const plan = planRevision(current, want(current, number))
      if (plan.changed.length + plan.gone.length === 0) return undefined
      const revision = createRevision({ spaceId: space.id, number: number + 1, author })
      await storePages(space, revision, plan)
      const publishing = toPublishing(space.organizationId, toEvent(revision))
      const audit = toAuditEntry(space, revision, plan)
      const receipt = await commits.store(completeRevisions, { revision, hostId, publishing, audit, origin })
      if (receipt === undefined) throw lost(space.id)
      onPublished(publishing.event.type, receipt)
      return revision
    } finally {
      await leaveDraft(space.id, number)
    }
  }

  /** @returns the number of the current revision; 0: there is none */
  async function begin(spaceId: string): Promise<number> {
    const end = Date.now() + waitMs
    for (;;) {
      const number = await transact(db, async (transaction) => {
        const now = Date.now()
        if (!(await beginDraft(transaction, { spaceId, hostId, now, until: now + draftMs }))) return undefined
        const current = (await findCurrentRevision(transaction, spaceId))?.number ?? 0
        await dropDraft(transaction, { spaceId, number: current })
        return current
      })
      if (number !== undefined) return number
      if (Date.now() > end) {
        const text = `Another host writes pages of the space ${spaceId}. Try again in a moment.`
        throw new AnnexError('conflict', text)
      }
      await sleep(pauseMs)
    }
  }

  /** Ends the draft of a revision that was not completed. After a completed one there is none. */
  async function leaveDraft(spaceId: string, number: number): Promise<void> {
    await transact(db, async (transaction) => {
      if (!(await keepDraft(transaction, { spaceId, hostId, until: Date.now() }))) return
      await dropDraft(transaction, { spaceId, number })
      await endDraft(transaction, { spaceId, hostId })
    })
  }

  async function storePages(space: Space, { number }: Revision, { changed, gone }: Plan): Promise<void> {
    const { id: spaceId } = space
    const endedIds = [...gone, ...changed.flatMap(({ page, isNew }) => (isNew ? [] : [page.id]))]
    for (let at = 0; at < endedIds.length; at += stepRows) {
      const rows = endedIds.slice(at, at + stepRows).map((id) => ({ spaceId, id, toRevision: number }))
      await inDraft(spaceId, (transaction) => endPages(transaction, rows))
    }
    let before = 0
    let ended: number | undefined
    for (let at = 0; at < changed.length; ) {
      const rows: Parameters<typeof insertPages>[1][number][] = []
      let bytes = 0
      for (; at < changed.length && rows.length < stepRows && bytes < stepBytes; at += 1) {
        const { page, readText } = changed[at] as Plan['changed'][number]
        const text = await readText()
        bytes += bytesOf({ ...page, ...text })
        rows.push({ ...page, ...text, spaceId, fromRevision: number })
      }
      await inDraft(spaceId, async (transaction) => {
        const findEnded = async () => {
          ended ??= await endedBytes(transaction, { spaceId, number })
          return ended
        }
        await countContent(transaction, space, { bytes, before, most: quotaBytes, findEnded })
        await insertPages(transaction, rows)
      })
      before += bytes
    }
  }

  async function inDraft(spaceId: string, store: (transaction: Db) => Promise<unknown>): Promise<void> {
    await transact(db, async (transaction) => {
      const until = Date.now() + draftMs
      if (!(await keepDraft(transaction, { spaceId, hostId, until }))) throw lost(spaceId)
      await store(transaction)
    })
  }
}

type Completion = {
  revision: Revision
  hostId: string
  publishing: Publishing
  audit: AuditEntry
  origin: Origin
}

/** Makes revisions current, and stores their events and audit entries in the same transaction. @returns undefined for a lost draft */
const completeRevisions: Step<Completion, PublishReceipt | undefined> = async (transaction, group) => {
  const receipts: (PublishReceipt | undefined)[] = []
  for (const { revision, hostId, publishing, audit, origin } of group) {
    const until = Date.now()
    if (!(await keepDraft(transaction, { spaceId: revision.spaceId, hostId, until }))) {
      receipts.push(undefined)
      continue
    }
    await insertRevision(transaction, revision)
    await recordAudit(transaction, origin, audit)
    receipts.push(...(await storeEvents(transaction, [publishing])))
  }
  return receipts
}

const mostListed = 20

/** One entry for a revision, however many pages it changes. It has no titles and no texts. */
function toAuditEntry(space: Space, { id, number }: Revision, { changed, gone }: Plan): AuditEntry {
  const created = changed.filter(({ isNew }) => isNew).length
  const pages = [...changed.map(({ page }) => page.id), ...gone].slice(0, mostListed)
  const counts = { created, edited: changed.length - created, deleted: gone.length }
  return {
    action: 'content.change',
    organizationId: space.organizationId,
    subject: { kind: 'space', id: space.id },
    after: { revision: id, number, ...counts, pages },
  }
}

const toEvent = ({ id, spaceId, author }: Revision): PublishedEvent => ({
  type: 'space_content_updated',
  eventId: createId('evt'),
  spaceId,
  revisionId: id,
  updatedBy: [author],
})

const lost = (spaceId: string): AnnexError =>
  new AnnexError(
    'conflict',
    `Another host took over the next revision of the space ${spaceId}, as this one was slow. Try again.`,
  )
