import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { buildPrelude, buildProcessCode, loadProcessCode } from '../../host/bundle/build-runtime.ts'

test('the prelude is built once for the same sources, and then read from the cache', async () => {
  const cacheFolder = path.join(await mkdtemp(path.join(tmpdir(), 'annex-prelude-')), 'not', 'there yet')
  const [first, second] = await Promise.all([buildPrelude({ cacheFolder }), buildPrelude({ cacheFolder })])
  assert.deepEqual(first, second)
  assert.match(first.digest, /^[0-9a-f]{64}$/)
  assert.match(first.code, /^"use strict";/)
  assert.deepEqual(await readdir(cacheFolder), [`prelude-${first.digest}.js`])

  await writeFile(path.join(cacheFolder, `prelude-${first.digest}.js`), 'from the cache')
  assert.equal((await buildPrelude({ cacheFolder })).code, 'from the cache')
  await rm(path.resolve(cacheFolder, '../..'), { recursive: true })
})

test('the prelude contains no path of the machine that built it', async () => {
  const cacheFolder = await mkdtemp(path.join(tmpdir(), 'annex-prelude-'))
  const { code } = await buildPrelude({ cacheFolder })
  assert.equal(code.includes(path.resolve(import.meta.dirname, '../..')), false)
  await rm(cacheFolder, { recursive: true })
})

test('the code of a sandbox process is built once for the same sources, and then cached', async () => {
  const cacheFolder = await mkdtemp(path.join(tmpdir(), 'annex-process-'))
  const built = await loadProcessCode({ cacheFolder })
  assert.deepEqual(built, await buildProcessCode())
  const names = (await readdir(cacheFolder)).sort()
  assert.match(names.join(), /^main-[0-9a-f]{64}\.js,probe-[0-9a-f]{64}\.js,snapshot-maker-[0-9a-f]{64}\.js$/)
  for (const name of names) await writeFile(path.join(cacheFolder, name), name.slice(0, 4))
  assert.deepEqual(await loadProcessCode({ cacheFolder }), {
    ...{ main: 'main', probe: 'prob', snapshotMaker: 'snap' },
  })
  await rm(cacheFolder, { recursive: true })
})
