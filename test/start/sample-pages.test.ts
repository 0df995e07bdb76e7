import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '../../host/db/open-database.ts'
import { findSpace, insertSpace } from '../../host/db/queries/places.ts'
import { ensureOperator } from '../../host/start/first-start.ts'
import { type Annex, type Json, startAnnex } from '../support/annex.ts'
import { createTestDatabase } from '../support/test-database.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const sampleFolder = join(root, 'host/start/sample-pages')
/** Where versions up to 0.2.0 had the pages. */
const formerFolder = join(root, 'content/handbook')

async function slugsOf({ api, server }: Annex): Promise<string[]> {
  const { json } = await api('GET', `/v1/spaces/${server.samples.space}/content`)
  const flat = (pages: Json[]): Json[] => pages.flatMap((page) => [page, ...flat(page.pages)])
  return flat(json.pages).map((page) => page.path)
}

test('the first start publishes the sample pages', async () => {
  const annex = await startAnnex()
  try {
    assert.deepEqual((await slugsOf(annex)).toSorted(), ['guides/feedback', 'guides/publishing', 'welcome'])
  } finally {
    await annex.close()
  }
})

test('a space with the sample folder of an older version gets the new one, and no other space does', async () => {
  await using ends = new AsyncDisposableStack()
  const dataDir = mkdtempSync(join(tmpdir(), 'annex-sample-'))
  ends.defer(() => rmSync(dataDir, { recursive: true, force: true }))
  const { url, drop } = await createTestDatabase()
  ends.defer(drop)
  const { db, close } = await openDatabase(url, dataDir)
  ends.defer(close)
  const { organization, samples } = await ensureOperator(db, 'home')
  const place = { organizationId: organization.id, title: 'Own', visibility: 'public' } as const
  const folders = { own: '/srv/content/handbook', below: join(formerFolder, 'guides'), api: null }
  const spaces = Object.entries(folders).map(([slug, folder]) => ({ ...place, slug, folder }))
  const made = await Promise.all(spaces.map((space) => insertSpace(db, space)))
  await db('spaces').where({ id: samples.space }).update({ folder: formerFolder })

  for (const start of ['the upgrade', 'the next start']) {
    const again = await ensureOperator(db, 'home')
    assert.deepEqual(again.samples, samples, start)
    assert.equal((await findSpace(db, samples.space))?.folder, sampleFolder, start)
    const others = await Promise.all(made.map((space) => findSpace(db, space?.id ?? '')))
    assert.deepEqual(
      others.map((space) => space?.folder),
      Object.values(folders),
      start,
    )
  }
})
