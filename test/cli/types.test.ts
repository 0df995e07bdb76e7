import assert from 'node:assert/strict'
import { appendFile, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { writePlugin } from './support/plugin-folder.ts'
import { makeFolder, runAnnex } from './support/run-annex.ts'

test('types writes the types of the settings; a second run finds them current', async (context) => {
  const folder = await writePlugin(join(await makeFolder(context), 'greeter'))
  const first = await runAnnex(['types', folder])
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /integration\.ts written\n$/)
  const path = join(folder, 'generated', 'integration.ts')
  assert.match(await readFile(path, 'utf8'), /greeting\?: \("hello" \| "hi"\)/)
  assert.match((await runAnnex(['types', folder])).stdout, /integration\.ts current\n$/)
})

test('types --check names stale and missing files, writes none, and ends with exit code 1', async (context) => {
  const folder = await writePlugin(join(await makeFolder(context), 'greeter'))
  await runAnnex(['types', folder])
  const path = join(folder, 'generated', 'integration.ts')
  assert.equal((await runAnnex(['types', '--check', folder])).code, 0)
  await appendFile(path, '// edited\n')
  const edited = await runAnnex(['types', '--check', folder])
  assert.equal(edited.code, 1)
  assert.match(edited.stdout, /integration\.ts stale\n$/)
  assert.match(await readFile(path, 'utf8'), /\/\/ edited\n$/)
  await rm(path)
  assert.equal((await runAnnex(['types', '--check', folder])).code, 1)
  await assert.rejects(readFile(path), { code: 'ENOENT' })
})

test('types of a folder with an invalid manifest prints the error on stderr, with exit code 3', async (context) => {
  const folder = await writePlugin(join(await makeFolder(context), 'broken'), { manifest: 'title: x\n' })
  const { code, stdout, stderr } = await runAnnex(['types', folder])
  assert.equal(code, 3)
  assert.equal(stdout, '')
  assert.match(stderr, /service-manifest\.yaml:1:\d+ error /)
})
