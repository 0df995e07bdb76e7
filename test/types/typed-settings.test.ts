import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { readManifest } from '../../host/manifest/read-manifest.ts'
import { compileTypes } from '../../host/manifest/settings/settings-types.ts'
import { writeTypes } from '../../host/manifest/settings/write-types.ts'
import { compile, root } from '../support/compile.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const more = `
secrets:
  API_KEY: \${{ env.TYPED_API_KEY }}
configurations:
  account:
    properties:
      region: { type: string, title: Region, description: Where, enum: [eu, us] }
      limit: { type: number, title: Limit, description: How many }
      unit: { type: string, title: Unit, default: words }
      connection: { type: button, button_text: Connect, callback_url: /oauth }
    required: [region]
  site:
    properties:
      webhook_url: { type: string, title: URL, description: Where to }
    required: [webhook_url]`

const script = (
  use: string,
  sdk = '@annex/runtime',
) => `import { createIntegration, getOAuthToken } from '${sdk}'
import type { Integration } from './generated/integration.ts'
export default createIntegration<Integration>({
  fetch: async (_request, context) => {
    const { environment } = context
    const { installation, siteInstallation } = environment
    if (installation === undefined || siteInstallation === undefined) return new Response('')
    ${use}
  },
})
`

const active = `if (installation.status !== 'active' || siteInstallation.status !== 'active') return new Response('');
    const account = installation.configuration; const site = siteInstallation.configuration; `
const any = 'const account = installation.configuration; const site = siteInstallation.configuration; '

type Use = [name: string, use: string, error?: RegExp]

/** A use of the settings, and what the compiler has to say of it; nothing where it is right. */
const uses: [Use, ...Use[]] = [
  [
    'every setting of an active installation by its name',
    `${active}return new Response(account.region + (account.limit ?? 0) + site.webhook_url + environment.secrets.API_KEY)`,
  ],
  ['a value of an enum', `${any}return new Response(account.region === 'eu' ? '1' : '2')`],
  [
    'a required setting of an installation that may be pending',
    `${any}return new Response(account.region.trim())`,
    /'account.region' is possibly 'undefined'/,
  ],
  [
    'a required setting of a site that may be pending',
    `${any}return new Response(site.webhook_url.trim())`,
    /'site.webhook_url' is possibly 'undefined'/,
  ],
  ['a setting with a default, whatever the status', `${any}return new Response(account.unit.trim())`],
  ['a default of the account, in a site', `${any}return new Response(site.unit.trim())`],
  [
    'a required setting of an account that may be pending, in an active site',
    `${active}return new Response(site.region.trim())`,
    /'site.region' is possibly 'undefined'/,
  ],
  [
    'the credentials of a button for a token',
    `${any}return new Response(await getOAuthToken(account.oauth_credentials, {} as never, context))`,
  ],
  [
    'the credentials under a button for a token',
    `${any}return new Response(await getOAuthToken(account.connection, {} as never, context))`,
  ],
  [
    'a misspelt setting',
    `${any}return new Response(site.webhok_url)`,
    /Property 'webhok_url' does not exist.*Did you mean 'webhook_url'/,
  ],
  [
    'a value that an enum does not have',
    `${any}return new Response(account.region === 'mars' ? '1' : '2')`,
    /no overlap/,
  ],
  [
    'an optional setting taken for a required one',
    `${active}return new Response(String(account.limit.toFixed()))`,
    /possibly 'undefined'/,
  ],
  [
    'a number taken for text',
    `${active}return new Response(account.limit?.trim())`,
    /'trim' does not exist on type 'number'/,
  ],
  [
    'a secret that the manifest does not name',
    'return new Response(environment.secrets.OTHER)',
    /Property 'OTHER' does not exist/,
  ],
]

const card = `/** @jsxImportSource @gitbook/runtime */
import { createComponent } from '@gitbook/runtime'
export default createComponent({
  componentId: 'card',
  initialState: {},
  render: async () => <block><text>Hello</text></block>,
})
`

const events = `import { createIntegration, type InstallationStatus } from '@annex/runtime'
const statuses: Record<InstallationStatus, number> = { pending: 1, active: 2, paused: 3, suspended: 4 }
export default createIntegration({ events: {
  space_content_updated: (event) => event.updatedBy?.some(({ type, id }) => type === 'user' && id === 'user_1'),
  site_view: (event) => event.referrer?.length ?? event.visitor.cookies.a ?? event.visitor.language ?? event.pageId,
  page_feedback: (event) => event.feedback.comment?.length,
  installation_setup: (event) => event.status === 'suspended' || statuses[event.previous?.status ?? 'paused'],
  // @ts-expect-error: no field of this event
  space_installation_setup: (event) => event.siteId,
  space_gitsync_completed: (event) => event.commitId,
} })
`

const environment = `import type { RuntimeEnvironment } from '@gitbook/runtime'
import type { Integration } from './generated/integration.ts'
export const urlOf = ({ siteInstallation: site, secrets }: RuntimeEnvironment<Integration>): string => {
  // @ts-expect-error: the site may be pending
  if (site?.status !== 'active') return site?.configuration.webhook_url.trim() ?? secrets.API_KEY
  // @ts-expect-error: the manifest has no such setting
  return site.configuration.webhook_url.trim() + site.configuration.webhok_url
}
`

describe('the settings of a script have types from its manifest: the compiler', () => {
  let folder: string
  let output: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'annex-typed-'))
    const plugins = uses.map(([, use], index) =>
      writePlugin(folder, `typed-${index}`, { more, script: script(use) }),
    )
    const [[, use]] = uses
    plugins.push(
      writePlugin(folder, 'reference', {
        more,
        script: script(use, '@gitbook/runtime'),
        files: { 'card.tsx': card, 'events.ts': events, 'environment.ts': environment },
      }),
    )
    for (const plugin of plugins) {
      const reading = await readManifest(plugin, {
        operatorOrganization: 'home',
        environment: { TYPED_API_KEY: 'x' },
      })
      assert.ok(reading.manifest, JSON.stringify(reading.problems))
      await writeTypes(plugin, await compileTypes(reading.manifest))
    }
    const config = { extends: join(root, 'plugins/tsconfig.json'), include: ['*/**/*.ts', '*/**/*.tsx'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    output = await compile(folder)
  })
  after(() => rmSync(folder, { recursive: true }))

  it('finds the SDK by the name of the reference platform, with typed events and environment', () => {
    assert.deepEqual(
      output.split('\n').filter((line) => line.startsWith('reference/')),
      [],
    )
  })

  for (const [index, [name, , error]] of uses.entries()) {
    it(`${error === undefined ? 'accepts' : 'refuses'} ${name}`, () => {
      const found = output.split('\n').filter((line) => line.startsWith(`typed-${index}/index.ts`))
      if (error === undefined) return assert.deepEqual(found, [])
      assert.equal(found.length, 1, output)
      assert.match(found[0] ?? '', /index\.ts[(:](8|9)[,:]\d+/)
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
