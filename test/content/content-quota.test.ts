import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { systemOrigin } from '../../host/access/actor.ts'
import { deletePage, putPage } from '../../host/content/edit-pages.ts'
import { pruneContent } from '../../host/content/prune-revisions.ts'
import { createContentWriter } from '../../host/content/write-content.ts'
import { createGroupCommit } from '../../host/db/group-commit.ts'
import { down, up } from '../../host/db/migrations/013-content-bytes.ts'
import { bytesOf } from '../../host/db/queries/content-bytes.ts'
import { findPage } from '../../host/db/queries/pages.ts'
import { deletePlaceRows, insertSpace, type Space } from '../../host/db/queries/places.ts'
import { findCurrentRevision } from '../../host/db/queries/revisions.ts'
import { AnnexError } from '../../host/errors.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

const kb = 1024
const mb = 1024 * kb
const by = { author: { type: 'user', id: 'operator' }, origin: systemOrigin } as const
const assertMatch = () => {}

describe('the quota of an organization’s pages', () => {
  let seeded: Seeded
  let spaces = 0
  before(async () => {
    seeded = await openSeeded()
  })
  after(() => seeded.close())

  /** An organization with a quota of 1 MB. */
  async function makeOrganization(quotaBytes = mb) {
    const { db } = seeded
    spaces += 1
    const { organizationId } = await seeded.addOrganization(`quota-${spaces}`)
    const writerOf = (hostId: string) =>
      createContentWriter({ db, commits: createGroupCommit(db), hostId, quotaBytes, onPublished: () => {} })
    const content = writerOf('host_1')
    const makeSpace = async (): Promise<Space> => {
      spaces += 1
      const slug = `space-${spaces}`
      const space = await insertSpace(db, { organizationId, slug, title: slug, folder: null })
      assert.ok(space)
      return space
    }
    const put = (space: Space, path: string, markdown: string, writer = content) =>
      putPage({ db, content: writer, space, by, writer: null, assertMatch }, path, { markdown })
    const remove = (space: Space, path: string) =>
      deletePage({ db, content, space, by, writer: null, assertMatch }, path)
    return { organizationId, writerOf, content, makeSpace, put, remove }
  }

  /** What the spaces of an organization count, which is what their rows have. */
  async function counted(organizationId: string): Promise<number> {
    const { db } = seeded
    let sum = 0
    for (const { id, contentBytes } of await db('spaces').where({ organizationId })) {
      const rows = await db('pages').where({ spaceId: id })
      assert.equal(
        contentBytes,
        rows.reduce((bytes, row) => bytes + bytesOf(row), 0),
      )
      sum += contentBytes
    }
    return sum
  }

  const full = (error: unknown): boolean => {
    assert.ok(error instanceof AnnexError)
    assert.equal(error.code, 'content_quota')
    assert.match(
      error.message,
      /^Nothing was stored: the kept revisions of the organization org_\S+ have \d+\.\d MB/,
    )
    assert.match(
      error.message,
      /more than 1 MB \(CONTENT_QUOTA_MB\)\. Delete a space: .+ RETENTION_DAYS\. Or let/,
    )
    return true
  }

  it('refuses a revision above it as a whole, and still allows reads and deletions', async () => {
    const { db } = seeded
    const { organizationId, makeSpace, put, remove } = await makeOrganization()
    const space = await makeSpace()
    await put(space, 'a', 'a'.repeat(400 * kb))
    await put(space, 'a', 'b'.repeat(400 * kb))
    const bytes = await counted(organizationId)
    await assert.rejects(put(space, 'a', 'c'.repeat(300 * kb)), full)
    await assert.rejects(put(space, 'new', 'c'.repeat(300 * kb)), full)
    assert.equal(await counted(organizationId), bytes)
    assert.equal((await findCurrentRevision(db, space.id))?.number, 2)
    assert.equal((await findPage(db, { spaceId: space.id, number: 1 }, 'a'))?.markdown, 'a'.repeat(400 * kb))
    assert.equal((await findPage(db, { spaceId: space.id, number: 2 }, 'a'))?.markdown, 'b'.repeat(400 * kb))
    await put(space, 'small', 'fits')
    await remove(space, 'a')
    assert.equal((await findCurrentRevision(db, space.id))?.number, 4)
  })

  it('counts all spaces of the organization, and no other organization', async () => {
    const { makeSpace, put } = await makeOrganization()
    await put(await makeSpace(), 'a', 'a'.repeat(600 * kb))
    const space = await makeSpace()
    await assert.rejects(put(space, 'a', 'a'.repeat(600 * kb)), full)
    const other = await makeOrganization()
    await other.put(await other.makeSpace(), 'a', 'a'.repeat(600 * kb))
  })

  it('counts bytes, documents, titles and rows without a text', async () => {
    const { db } = seeded
    const { organizationId, content, makeSpace, put } = await makeOrganization()
    const space = await makeSpace()
    await assert.rejects(put(space, 'a', 'ü'.repeat(600 * kb)), full)
    const document = { text: 'x'.repeat(1100 * kb) }
    await assert.rejects(
      putPage({ db, content, space, by, writer: null, assertMatch }, 'a', { document }),
      full,
    )
    await put(space, 'ü', '😀')
    assert.equal(await counted(organizationId), 100 + 2 + 2 + 4)
  })

  it('lets a page shrink to half when it is full, but not byte by byte', async () => {
    const { makeSpace, put } = await makeOrganization()
    const space = await makeSpace()
    await put(space, 'a', 'a'.repeat(500 * kb))
    await put(space, 'a', 'b'.repeat(500 * kb))
    await assert.rejects(put(space, 'a', 'b'.repeat(500 * kb - 1)), full)
    await assert.rejects(put(space, 'a', 'b'.repeat(260 * kb)), full)
    await put(space, 'a', 'b'.repeat(240 * kb))
    await assert.rejects(put(space, 'a', 'b'.repeat(130 * kb)), full)
    await put(space, 'a', 'b'.repeat(110 * kb))
    await put(space, 'a', '')
    await assert.rejects(put(space, 'a', 'b'.repeat(kb)), full)
  })

  it('has room again after revisions are pruned, also without pages', async () => {
    const { db } = seeded
    const { organizationId, makeSpace, put, remove } = await makeOrganization()
    const space = await makeSpace()
    await put(space, 'a', 'a'.repeat(500 * kb))
    await put(space, 'b', 'b'.repeat(500 * kb))
    await remove(space, 'a')
    await remove(space, 'b')
    await assert.rejects(put(space, 'c', 'c'.repeat(100 * kb)), full)
    await db('revisions').where({ spaceId: space.id }).update({ createdAt: 0 })
    await pruneContent(db, 1000)
    assert.ok((await counted(organizationId)) < kb)
    await put(space, 'c', 'c'.repeat(900 * kb))
  })

  it('has room again after a space is deleted', async () => {
    const { db } = seeded
    const { makeSpace, put } = await makeOrganization()
    const [space, other] = [await makeSpace(), await makeSpace()]
    await put(space, 'a', 'a'.repeat(600 * kb))
    await assert.rejects(put(other, 'a', 'a'.repeat(600 * kb)), full)
    await db.transaction((transaction) => deletePlaceRows(transaction, 'space', space.id))
    await put(other, 'a', 'a'.repeat(600 * kb))
  })

  it('cannot be passed by two hosts that write two spaces at once', async () => {
    const { organizationId, writerOf, makeSpace, put } = await makeOrganization()
    const writers = ['host_1', 'host_2', 'host_3', 'host_4'].map(writerOf)
    const at = await Promise.all(writers.map(makeSpace))
    const written = await Promise.allSettled(
      writers.map((writer, n) => put(at[n] as Space, 'a', 'a'.repeat(400 * kb), writer)),
    )
    const refused = written.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    assert.equal(refused.length, 2)
    assert.ok(refused.every(full))
    assert.ok((await counted(organizationId)) <= mb)
  })

  it('is unlimited at 0', async () => {
    const { makeSpace, put } = await makeOrganization(0)
    await put(await makeSpace(), 'a', 'a'.repeat(1500 * kb))
  })

  it('removes the stored steps of a revision that does not fit', async () => {
    const { organizationId, content, makeSpace, put } = await makeOrganization()
    const space = await makeSpace()
    await put(space, 'a', 'a'.repeat(100 * kb))
    const bytes = await counted(organizationId)
    const many = Array.from({ length: 20 }, (_, n) => ({
      ...{ id: `page_${n}`, kind: 'document' as const, path: `p${n}`, parentId: null, title: `${n}` },
      ...{ description: null, digest: `${n}`, writtenBy: null },
      readText: async () => ({ markdown: 'x'.repeat(100 * kb), document: null }),
    }))
    await assert.rejects(
      content.write(space, by, () => many),
      full,
    )
    assert.equal(await counted(organizationId), bytes)
    await put(space, 'a', 'b'.repeat(100 * kb))
  })

  it('counts rows that are older than the quota', async () => {
    const { db } = seeded
    const { organizationId, makeSpace, put } = await makeOrganization()
    const space = await makeSpace()
    await makeSpace()
    await put(space, 'ü', 'ü'.repeat(kb))
    await put(space, 'b', '')
    const bytes = await counted(organizationId)
    await db.transaction(down)
    await db.transaction(up)
    assert.equal(await counted(organizationId), bytes)
  })
})

describe('an organization above its quota', () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-quota-'))
  let annex: Annex
  before(async () => {
    const script = `import { createIntegration } from '@annex/runtime'
      export default createIntegration({
        fetch: async (request, { api, environment }) => {
          const page = { markdown: 'x'.repeat(600 * 1024) }
          try {
            await api.spaces.putPage(environment.spaceInstallation.space, 'by-script', page)
            return new Response('stored')
          } catch (error) {
            return Response.json({ message: error.message, code: error.code }, { status: error.status })
          }
        },
      })`
    const scopes = ['space:content:read', 'space:content:write']
    annex = await startAnnex({ plugins: { writer: { script, scopes } }, flags: { CONTENT_QUOTA_MB: '1' } })
  })
  after(async () => {
    await annex.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('gets a 507 with the next step, over the API, for a script and for a folder', async () => {
    const made = await annex.api('POST', '/v1/orgs/home/spaces', { slug: 'full', title: 'Full' })
    const path = `/v1/spaces/${made.json.id}`
    const put = (page: string) =>
      annex.api('PUT', `${path}/content/page/${page}`, { markdown: 'x'.repeat(600 * kb) })
    assert.equal((await put('a')).status, 201)
    const refused = await put('b')
    assert.deepEqual([refused.status, refused.json.error.code], [507, 'content_quota'])
    assert.match(refused.json.error.message, /have 0\.6 MB, .+ more than 1 MB \(CONTENT_QUOTA_MB\)\. Delete/)
    assert.equal((await annex.api('GET', `${path}/content/page/a`)).status, 200)

    const installed = await installSample(annex, 'writer')
    const base = `/v1/integrations/writer/installations/${installed.id}/spaces`
    const installedOn = await annex.api('POST', base, { space: made.json.id })
    await until(
      () => annex.api('GET', `${base}/${made.json.id}`),
      ({ json }) => json.status === 'active',
    )
    const answer = await fetch(installedOn.json.urls.publicEndpoint, { method: 'POST' })
    assert.equal(answer.status, 507)
    assert.match(((await answer.json()) as Json).message, /CONTENT_QUOTA_MB/)

    for (const name of ['a', 'b']) writeFileSync(join(folder, `${name}.md`), 'x'.repeat(300 * kb))
    const imported = await annex.api('POST', '/v1/orgs/home/spaces', { slug: 'f', title: 'F', folder })
    assert.deepEqual([imported.status, imported.json.revision], [201, null])
    assert.equal(imported.json.problems[0].file, '.')
    assert.match(
      imported.json.problems[0].message,
      /^Nothing was stored: .+ more than 1 MB \(CONTENT_QUOTA_MB\)/,
    )

    assert.equal((await annex.api('DELETE', `${path}/content/page/a`)).status, 204)
    await annex.api('DELETE', `/v1/integrations/writer/installations/${installed.id}`)
    const deleted = await until(
      () => annex.api('DELETE', path),
      ({ status }) => status !== 409,
    )
    assert.equal(deleted.status, 200, deleted.text)
    await annex.api('POST', '/v1/reload')
    const { json } = await annex.api('GET', `/v1/spaces/${imported.json.id}`)
    assert.notEqual(json.revision, null)
    assert.equal(json.problems, undefined)
  })
})
