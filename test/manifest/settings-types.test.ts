import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, readFile, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { compileTypes } from '../../host/manifest/settings/settings-types.ts'
import { hasCurrentTypes, writeTypes } from '../../host/manifest/settings/write-types.ts'
import { createFolder, createManifest } from '../bundle/plugin-folder.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

const manifest = createManifest({
  scopes: ['site:views:read', 'openapi:read'],
  secrets: { API_KEY: `\${{ env.A }}` },
  configurations: {
    account: {
      properties: {
        url: { type: 'string', title: 'Address', description: 'Where it goes.' },
        level: { type: 'string', enum: ['low', 'high'] },
        'max-count': { type: 'number' },
        loud: { type: 'boolean', default: false },
        oauth: { type: 'button', button_text: 'Connect', callback_url: '/oauth' },
      },
      required: ['url', 'level'],
    },
    space: { componentId: 'settings' },
  },
})

test('settings become a type with unions, required fields, secrets and scopes', async () => {
  const [banner, digest, ...lines] = (await compileTypes(manifest)).split('\n')
  assert.equal(banner, '// Generated from the manifest by `annex types`. Do not edit: edit the manifest.')
  assert.match(digest ?? '', /^\/\/ sha256:[0-9a-f]{64}$/)
  assert.equal(
    lines.join('\n'),
    `
/**
 * What the manifest of this integration declares, for \`createIntegration<Integration>({ … })\`.
 */
export interface Integration {
  name: "sample"
  settings: {
    account: {
      oauth_credentials?: {
        access_token: string
        refresh_token?: string
        expires_at?: number
        [k: string]: unknown
      }
      /**
       * Address. Where it goes.
       */
      url: string
      level: ("low" | "high")
      "max-count"?: number
      loud: boolean
      oauth?: {
        access_token?: string
        refresh_token?: string
        expires_at?: number
        [k: string]: unknown
      }
    }
    site: {
    }
    space: {
      [k: string]: unknown
    }
  }
  /**
   * Settings that only an active installation is sure to have: required ones without a default.
   */
  required: {
    account: ("url" | "level")
    site: never
    space: never
  }
  secrets: {
    API_KEY: string
  }
  scopes: ("site:views:read" | "openapi:read")
}
`,
  )
})

test('the compiler does not run for a text with the digest of the same settings', async () => {
  const text = await compileTypes(manifest)
  assert.equal(await compileTypes(manifest, `${text}// kept`), `${text}// kept`)
  const other = await compileTypes(createManifest({ scopes: ['openapi:read'] }), text)
  assert.match(other, /scopes: "openapi:read"/)
})

function compile(folder: string, file: string): string {
  const args = [
    '--noEmit',
    '--strict',
    '--ignoreConfig',
    '--allowImportingTsExtensions',
    '--types',
    '',
    '--module',
    'nodenext',
    file,
  ]
  const { stdout, status } = spawnSync(join(root, 'node_modules/.bin/tsc'), args, {
    cwd: folder,
    encoding: 'utf8',
  })
  return status === 0 ? '' : stdout
}

test('a wrong setting name, choice or secret in a script is a compile error', async (t) => {
  const folder = await createFolder(t, {
    'right.ts': `import type { Integration } from './generated/integration.ts'
declare const { settings, secrets }: Integration
export const all = [settings.account.url.length, settings.account.level === 'low', settings.account.loud, secrets.API_KEY]
`,
    'wrong.ts': `import type { Integration } from './generated/integration.ts'
declare const { settings, secrets }: Integration
export const a = settings.account.urll
export const b = settings.account.level === 'mid'
export const c = secrets.API_KEZ
export const d = settings.site.url
export const e = settings.account['max-count'].toFixed()
`,
  })
  await writeTypes(folder, await compileTypes(manifest))
  assert.equal(compile(folder, 'right.ts'), '')
  const errors = compile(folder, 'wrong.ts')
  assert.match(
    errors,
    /wrong\.ts\(3,35\): error TS2551: Property 'urll' does not exist .* Did you mean 'url'\?/,
  )
  assert.match(errors, /wrong\.ts\(4,18\): error TS2367/)
  assert.match(errors, /wrong\.ts\(5,26\): error TS2551/)
  assert.match(errors, /wrong\.ts\(6,32\): error TS2339/)
  assert.match(errors, /wrong\.ts\(7,18\): error TS2532/)
})

test('a hostile manifest cannot leave its comment or text in the types', async (t) => {
  const hostile = [
    `*/ export const pwned = 1 /*`,
    `'; export const pwned = 1; '`,
    '\\',
    `\\' + pwned`,
    '\n// x\nexport const pwned = 1',
    '\u2028pwned',
    '\r',
    '*',
    '`$' + '{pwned}`',
    '\u0000',
    '/**/',
    '{ }',
    '}',
  ]
  const folder = await createFolder(t, { 'package.json': '{"type":"module"}' })
  const properties = Object.fromEntries(
    hostile.map((text, index) => [
      `p${index}`,
      { type: 'string' as const, title: text, description: text, enum: [text, `${text}2`] },
    ]),
  )
  await writeTypes(
    folder,
    await compileTypes(createManifest({ configurations: { account: { properties } } })),
  )
  const generated = await readFile(join(folder, 'generated/integration.ts'), 'utf8')
  // Node strips types: what remains of a file of types alone runs and exports nothing.
  const module = await import(join(folder, 'generated/integration.ts'))
  assert.deepEqual(Object.keys(module), [])
  assert.equal(generated.match(/^export/gm)?.length, 1)
  assert.equal(compile(folder, 'generated/integration.ts'), '')
})

test('a setting may have the name of any keyword of the compiler', async () => {
  const names = [
    ...['id', 'enum', 'extends', 'tsType', 'title', 'definitions', 'allOf', 'items', 'default', 'required'],
    ...['properties', 'type', 'const', 'not', 'nullable', 'tsEnumNames', 'additionalProperties', '_', 'a-b'],
  ]
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'number' as const }]))
  const text = await compileTypes(createManifest({ configurations: { site: { properties } } }))
  for (const name of names) assert.match(text, new RegExp(`^      "?${name}"?\\?: number$`, 'm'))
  assert.equal(text.match(/number/g)?.length, names.length)
})

test('types are written only after a change', async (t) => {
  const folder = await createFolder(t, {})
  const text = await compileTypes(manifest)
  assert.equal(await hasCurrentTypes(folder, text), false)
  assert.equal((await writeTypes(folder, text)).written, true)
  const { path, written } = await writeTypes(folder, text)
  const { mtimeMs } = await stat(path)
  assert.equal(written, false)
  assert.equal(await hasCurrentTypes(folder, text), true)
  assert.equal((await writeTypes(folder, `${text}// more\n`)).written, true)
  assert.ok((await stat(path)).mtimeMs >= mtimeMs)
  assert.equal(await readFile(path, 'utf8'), `${text}// more\n`)
})

test('types are not written through a symlink', async (t) => {
  const outside = await createFolder(t, { 'integration.ts': 'precious' })
  const refusal = { code: 'manifest_invalid', message: /Types were not written: .* is a symlink\. Remove it/ }
  const linkedFolder = await createFolder(t, {})
  await symlink(outside, join(linkedFolder, 'generated'))
  await assert.rejects(writeTypes(linkedFolder, 'x'), refusal)
  const linkedFile = await createFolder(t, {})
  await mkdir(join(linkedFile, 'generated'))
  await symlink(join(outside, 'integration.ts'), join(linkedFile, 'generated/integration.ts'))
  await assert.rejects(writeTypes(linkedFile, 'x'), refusal)
  await assert.rejects(hasCurrentTypes(linkedFile, 'x'), refusal)
  assert.equal(await readFile(join(outside, 'integration.ts'), 'utf8'), 'precious')
})
