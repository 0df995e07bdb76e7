import assert from 'node:assert/strict'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { generateTypes } from '../../schemas/generate/generate-types.ts'
import { createFolder } from '../bundle/plugin-folder.ts'

const schemas = fileURLToPath(new URL('../../schemas/', import.meta.url))

test('types are made from the schemas, and the check names stale ones', async (t) => {
  const root = await createFolder(t, {})
  await mkdir(join(root, 'schemas'))
  await cp(join(schemas, 'events'), join(root, 'schemas/events'), { recursive: true })
  await cp(join(schemas, 'manifest.schema.json'), join(root, 'schemas/manifest.schema.json'))
  const run = async (...args: string[]) => {
    const lines: string[] = []
    return { code: await generateTypes(root, args, (line) => lines.push(line)), lines }
  }

  const missing = await run('--check')
  assert.equal(missing.code, 1)
  assert.ok(missing.lines.includes('schemas/generated/manifest.ts is stale: run `make types`'))
  assert.equal((await run()).code, 0)
  assert.deepEqual(await run('--check'), { code: 0, lines: [] })
  assert.deepEqual(await run(), { code: 0, lines: [] })

  const path = join(root, 'schemas/generated/events/site-view.ts')
  await writeFile(path, `${await readFile(path, 'utf8')}// by hand\n`)
  assert.deepEqual(await run('--check'), {
    code: 1,
    lines: ['schemas/generated/events/site-view.ts is stale: run `make types`'],
  })
  await rm(path)
  assert.equal((await run('--check')).code, 1)
  assert.deepEqual((await run()).lines, ['wrote schemas/generated/events/site-view.ts'])
})

test('generated types have a notice, one type for each level, and unions for enums', async () => {
  const text = await readFile(join(schemas, 'generated/manifest.ts'), 'utf8')
  assert.match(text, /^\/\/ Generated from the JSON Schemas in schemas\/ by `make types`\. Do not edit/)
  assert.match(text, /visibility: 'private' \| 'unlisted' \| 'public'/)
  assert.match(text, /site\?: ConfigurationLevel\n/)
  assert.doesNotMatch(text, /ConfigurationLevel\d/)
})
