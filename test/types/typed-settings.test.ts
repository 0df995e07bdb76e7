import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readManifest } from '../../host/manifest/read-manifest.ts'
import { generateTypes } from '../../host/manifest/settings/settings-types.ts'
import { writeTypes } from '../../host/manifest/settings/write-types.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const more = `
secrets:
  API_KEY: \${{ env.TYPED_API_KEY }}
configurations:
  account:
    properties:
      region: { type: string, title: Region, description: Where, enum: [eu, us] }
      limit: { type: number, title: Limit, description: How many }
    required: [region]
  site:
    properties:
      webhook_url: { type: string, title: URL, description: Where to }
    required: [webhook_url]`

const script = (use: string) => `import { createIntegration } from '@annex/runtime'
import type { Integration } from './generated/integration.ts'
export default createIntegration<Integration>({
  fetch: async (_request, { environment }) => {
    const account = environment.installation?.configuration
    const site = environment.siteInstallation?.configuration
    if (account === undefined || site === undefined) return new Response('')
    ${use}
  },
})
`

/** A use of the settings, and what the compiler has to say of it; nothing where it is right. */
const uses: [name: string, use: string, error?: RegExp][] = [
  [
    'every setting by its name',
    'return new Response(account.region + (account.limit ?? 0) + site.webhook_url + environment.secrets.API_KEY)',
  ],
  ['a value of an enum', "return new Response(account.region === 'eu' ? '1' : '2')"],
  [
    'a setting that is misspelt',
    'return new Response(site.webhok_url)',
    /Property 'webhok_url' does not exist.*Did you mean 'webhook_url'/,
  ],
  [
    'a value that an enum does not have',
    "return new Response(account.region === 'mars' ? '1' : '2')",
    /no overlap/,
  ],
  [
    'an optional setting taken for a required one',
    'return new Response(String(account.limit.toFixed()))',
    /possibly 'undefined'/,
  ],
  [
    'a number taken for text',
    'return new Response(account.limit?.trim())',
    /'trim' does not exist on type 'number'/,
  ],
  [
    'a secret that the manifest does not name',
    'return new Response(environment.secrets.OTHER)',
    /Property 'OTHER' does not exist/,
  ],
]

describe('a script’s settings are typed by its manifest: the compiler', () => {
  let folder: string
  let output: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'annex-typed-'))
    for (const [index, [, use]] of uses.entries()) {
      const plugin = writePlugin(folder, `typed-${index}`, { more, script: script(use) })
      const reading = await readManifest(plugin, {
        operatorOrganization: 'home',
        environment: { TYPED_API_KEY: 'x' },
      })
      assert.ok(reading.manifest, JSON.stringify(reading.problems))
      await writeTypes(plugin, generateTypes(reading.manifest))
    }
    const config = { extends: join(root, 'plugins/tsconfig.json'), include: ['*/**/*.ts'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    output = await compile(folder)
  })
  after(() => rmSync(folder, { recursive: true }))

  for (const [index, [name, , error]] of uses.entries()) {
    it(`${error === undefined ? 'takes' : 'refuses'} ${name}`, () => {
      const found = output.split('\n').filter((line) => line.includes(`typed-${index}/index.ts`))
      if (error === undefined) return assert.deepEqual(found, [])
      assert.equal(found.length, 1, output)
      assert.match(found[0] ?? '', /index\.ts[(:]8[,:]\d+/)
      assert.match(
        output
          .slice(output.indexOf(found[0] ?? ''))
          .split('\n')
          .slice(0, 3)
          .join(' '),
        error,
      )
    })
  }
})

function compile(project: string): Promise<string> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [tsc, '-p', project, '--pretty', 'false'],
      { cwd: project },
      (_error, stdout) => resolve(stdout),
    )
  })
}
