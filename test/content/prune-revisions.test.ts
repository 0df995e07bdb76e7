import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemOrigin } from '../../host/access/actor.ts'
import { putPage } from '../../host/content/edit-pages.ts'
import { pruneContent } from '../../host/content/prune-revisions.ts'
import { createContentWriter } from '../../host/content/write-content.ts'
import { createGroupCommit } from '../../host/db/group-commit.ts'
import { findPage, listChangedPages, listPages } from '../../host/db/queries/pages.ts'
import { findSpace, insertSpace, type Space } from '../../host/db/queries/places.ts'
import { findCurrentRevision, listRevisions } from '../../host/db/queries/revisions.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

const day = 86_400_000
let seeded: Seeded
before(async () => {
  seeded = await openSeeded()
})
after(() => seeded.close())

const assertMatch = () => {}
const by = { author: { type: 'user', id: 'operator' }, origin: systemOrigin } as const

async function makeSpace(slug: string): Promise<Space> {
  const { db } = seeded
  const [organization] = await db('organizations').limit(1)
  const space = await insertSpace(db, { organizationId: organization.id, slug, title: slug, folder: null })
  assert.ok(space)
  return space
}

const writerOf = (hostId: string) => {
  const { db } = seeded
  return createContentWriter({
    db,
    commits: createGroupCommit(db),
    hostId,
    quotaBytes: 0,
    onPublished: () => {},
  })
}

test('old revisions are pruned with the pages that only they have', async () => {
  const { db } = seeded
  const space = await makeSpace('pruned')
  const content = writerOf('host_1')
  for (const markdown of ['one', 'two', 'three', 'four']) {
    await putPage({ db, content, space, by, writer: null, assertMatch }, 'a', { markdown })
    await putPage({ db, content, space, by, writer: null, assertMatch }, `b-${markdown}`, { markdown })
  }
  const ages = [90, 80, 70, 60, 40, 20, 10, 5]
  for (const [n, days] of ages.entries()) {
    await db('revisions')
      .where({ spaceId: space.id, number: n + 1 })
      .update({ createdAt: Date.now() - days * day })
  }
  await pruneContent(db, 30 * day)
  const kept = await listRevisions(db, space.id, { limit: 50 })
  assert.deepEqual(
    kept.map(({ number }) => number),
    [8, 7, 6, 5],
    'revision 5 was current 30 days ago',
  )
  const key = { spaceId: space.id, number: 5 }
  assert.deepEqual(
    (await listPages(db, key)).map(({ path }) => path),
    ['a', 'b-one', 'b-two'],
  )
  assert.equal((await findPage(db, key, 'a'))?.markdown, 'three')
  assert.equal((await listChangedPages(db, key))[0]?.before?.path, 'a', 'its changes can still be told')
  const rows = await db('pages').where({ spaceId: space.id }).whereNotNull('toRevision')
  assert.deepEqual(
    rows.map(({ toRevision, markdown }) => [toRevision, markdown]),
    [
      [5, null],
      [7, 'three'],
    ],
    'no kept revision has the text of a page that the oldest one replaced',
  )
  await db('revisions')
    .where({ spaceId: space.id })
    .update({ createdAt: Date.now() - 900 * day })
  await pruneContent(db, 30 * day)
  assert.equal((await findCurrentRevision(db, space.id))?.number, 8, 'the current revision stays')
})

test('an incomplete revision is invisible, and the next writer removes it', async () => {
  const { db } = seeded
  const space = await makeSpace('broken-off')
  const content = writerOf('host_1')
  await putPage({ db, content, space, by, writer: null, assertMatch }, 'a', { markdown: 'one' })
  const broken = content.write(
    space,
    by,
    (current) =>
      [...current, { ...current[0], id: 'page_broken', path: 'broken' }].map(({ position: _, ...page }) => ({
        ...(page as typeof page & { kind: 'document'; path: string; title: string; digest: string }),
        ...{ kind: 'document' as const, parentId: null, description: null, title: 'x' },
        digest: `${page.digest} changed`,
        readText: async () => {
          if (page.path === 'broken') throw new Error('the disk is gone')
          return { markdown: 'half', document: null }
        },
      })) as never,
  )
  await assert.rejects(broken, /the disk is gone/)
  const seen = async () => {
    const number = (await findCurrentRevision(db, space.id))?.number ?? 0
    const pages = await listPages(db, { spaceId: space.id, number })
    return [number, ...pages.map(({ path }) => path)]
  }
  assert.deepEqual(await seen(), [1, 'a'])
  await putPage({ db, content, space, by, writer: null, assertMatch }, 'b', { markdown: 'two' })
  assert.deepEqual(await seen(), [2, 'a', 'b'])
  assert.equal((await findPage(db, { spaceId: space.id, number: 2 }, 'a'))?.markdown, 'one')
})

test('a host waits for the draft of another host, and takes over when it lapses', async () => {
  const { db } = seeded
  const space = await makeSpace('two-hosts')
  const other = { draftedBy: 'host_2', draftedUntil: Date.now() + 500 }
  await db('spaces').where({ id: space.id }).update(other)
  await putPage({ db, content: writerOf('host_1'), space, by, writer: null, assertMatch }, 'a', {
    markdown: 'one',
  })
  assert.ok(Date.now() >= other.draftedUntil)
  assert.equal((await findCurrentRevision(db, space.id))?.number, 1)
  assert.equal((await db('spaces').where({ id: space.id }).first()).draftedBy, null)
  assert.equal((await findSpace(db, space.id))?.id, space.id)
})
