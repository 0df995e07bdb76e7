import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type CheckOptions, createCheck } from '../../schemas/create-check.ts'
import manifestSchema from '../../schemas/manifest.schema.json' with { type: 'json' }

const schema = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', minLength: 2 }, at: { type: 'string', format: 'uri' } },
}
const formats = { from: 'ajv-formats/dist/formats.js', name: 'fullFormats' }

describe('the check of a schema', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'annex-checks-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const make = (options: CheckOptions = { formats }, of: object = schema) =>
    createCheck(of, options, folder)()
  const files = () => readdirSync(folder).map((name) => join(folder, name))

  it('accepts what its schema accepts, and its cached copy does the same', () => {
    for (const check of [make(), make()]) {
      assert.equal(check({ name: 'ab', at: 'https://example.com' }), true)
      assert.equal(check({ name: 'a' }), false)
      assert.equal(check.errors?.[0]?.message, 'must NOT have fewer than 2 characters')
      assert.equal(check({}), false)
      assert.equal(check({ name: 'ab', at: 'no address' }), false)
      assert.equal(check.errors?.[0]?.instancePath, '/at')
    }
    assert.notEqual(make(), make({ formats, allErrors: true }))
    assert.equal(files().length, 2)
    for (const file of files()) assert.equal(make()({}), false, file)
  })

  it('finds the same errors in a manifest from its cached copy', () => {
    const options = { allErrors: true, verbose: true, discriminator: true, allowUnionTypes: true }
    const own = {
      from: fileURLToPath(new URL('../../host/manifest/settings/settings-schema.ts', import.meta.url)),
      name: 'formats',
    }
    const given = { ...options, strictRequired: false, keywords: ['x-expected'], formats: own }
    const [compiled, kept] = [make(given, manifestSchema), make(given, manifestSchema)]
    assert.notEqual(compiled, kept)
    const wrong = {
      name: 'X y',
      title: '\u200b',
      scopes: ['no:scope', 3],
      configurations: { account: { properties: { a: {} } } },
    }
    for (const data of [{}, [], 'text', wrong]) {
      assert.equal(compiled(data), false)
      assert.equal(kept(data), false)
      assert.deepEqual(kept.errors, compiled.errors)
    }
  })

  it('is compiled again if its cached copy is damaged', () => {
    make()
    const [file = ''] = files()
    const whole = readFileSync(file)
    // Each in a folder of its own: a file that was run once is not read again by this process.
    for (const damaged of ['', 'module.exports = {}', whole.subarray(0, whole.length / 2)]) {
      const damagedFolder = mkdtempSync(join(folder, 'damaged-'))
      writeFileSync(join(damagedFolder, basename(file)), damaged)
      assert.equal(createCheck(schema, { formats }, damagedFolder)()({ name: 'a' }), false)
      assert.deepEqual(readFileSync(join(damagedFolder, basename(file))), whole)
    }
  })

  it('works without a cache', () => {
    writeFileSync(join(folder, 'file'), '')
    const nowhere = join(folder, 'file', 'checks')
    assert.equal(createCheck(schema, { formats }, nowhere)()({ name: 'a' }), false)
  })

  it('refuses a schema with an unknown keyword', () => {
    assert.throws(() => make({ strict: true }, { type: 'object', requird: [] }), /unknown keyword/)
  })
})
