import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertHarmless } from './support/assert-harmless.ts'
import { manifest, writePlugin } from './support/plugin-folder.ts'
import { makeFolder, runAnnex, runProcess } from './support/run-annex.ts'

test('check passes the plugins that come with Annex, and needs no server', async () => {
  const { code, stdout, stderr } = await runProcess(['check'])
  assert.equal(code, 0, stdout)
  assert.match(stderr, /^0 errors and /)
})

test('check prints each error with its position and code frame, and ends with exit code 3', async (context) => {
  const folder = await writePlugin(join(await makeFolder(context), 'broken'), {
    manifest: manifest.replace('visibility: private', 'visiblity: private'),
  })
  const { code, stdout, stderr } = await runAnnex(['check', folder])
  assert.equal(code, 3)
  assert.match(stdout, /service-manifest\.yaml:5:1 error /)
  assert.match(stdout, /5 \| visiblity: private/)
  assert.match(stdout, /\^{10}/)
  assert.match(stdout, /visibility/)
  assert.match(stderr, /errors? and 0 warnings in 1 plugin folder/)
})

test('check reports errors of bundling the script', async (context) => {
  const folder = await writePlugin(join(await makeFolder(context), 'broken'), {
    script: `import { createIntegration } from '@annex/runtime'
import { readFileSync } from 'node:fs'
export default createIntegration({ fetch: async () => new Response(readFileSync('x')) })
`,
  })
  const { code, stdout } = await runAnnex(['check', folder])
  assert.equal(code, 3)
  assert.match(stdout, /index\.ts:2:\d+ error .*node:fs/)
})

/** The keys of `events`, and what check has to say of each: a line of its answer, or nothing. */
const handled: [string, RegExp | undefined][] = [
  ['site_view', undefined],
  ['siteView', /error there is no event "siteView"[\s\S]*?hint: did you mean "site_view"\? events: /],
  ["'site_veiw'", /index\.ts:\d+:4 error there is no event "site_veiw"[\s\S]*?did you mean "site_view"\?/],
  ['installation_setup', undefined],
  ['instalation_setup', /no event "instalation_setup"[\s\S]*?did you mean "installation_setup"\?/],
  ['site_installation_deletd', /did you mean "site_installation_deleted"\?/],
  ['order_placed', /error there is no event "order_placed"\n[\s\S]*?hint: events: space_content_updated, /],
  ["''", /index\.ts:1:1 error there is no event ""/],
  ['constructor', /error there is no event "constructor"/],
  ["'\\u001b[2J'", /error there is no event "\\x1b\[2J"/],
  // Of the other platform: Annex does not send them, and its scripts handle them.
  ['space_gitsync_started', undefined],
  ['space_gitsync_completed', undefined],
  ['space_view', undefined],
  // The SDK finds these two in "events" as well.
  ['fetch_published_script', undefined],
  ['fetch_visitor_authentication', undefined],
  [
    'fetch',
    /warning a handler for "fetch" in "events" never runs[\s\S]*?hint: write it as "fetch" beside "events"/,
  ],
  ['task', /warning a handler for "task" in "events" never runs/],
  ['ui_render', /warning a handler for "ui_render"[\s\S]*?hint: write it into a component/],
  ['content_compute_revision', /warning [\s\S]*?"getRevision" of a source/],
]

test('check reports each handler of an event that does not exist, with the nearest name', async (context) => {
  const lines = handled.map(([key]) => `  ${key}: [() => undefined],`)
  const folder = await writePlugin(join(await makeFolder(context), 'events'), {
    manifest: manifest.replace(/^scopes:.*$/m, 'scopes: [site:views:read]'),
    script: `import { createIntegration } from '@annex/runtime'
const events = {
${lines.join('\n')}
  site_viewed: undefined,
  site_visited: [],
}
export default createIntegration({ events })
`,
  })
  const { code, stdout, stderr } = await runAnnex(['check', folder])
  assert.equal(code, 3)
  const told = stdout.split(/\n(?=\S+\.(?:ts|yaml):\d)/)
  for (const [key, says] of handled) {
    const found = told.filter((one) => says?.test(one))
    assert.equal(found.length, says === undefined ? 0 : 1, `${key}: ${stdout}`)
  }
  assert.equal(told.length, handled.filter(([, says]) => says !== undefined).length, stdout)
  assert.match(stderr, /8 errors and 4 warnings/)
})

test('check finds the handler of an unknown event in the file that defines it', async (context) => {
  const folder = await writePlugin(join(await makeFolder(context), 'parts'), {
    script: `import { createIntegration } from '@annex/runtime'
import { events } from './lib/events.ts'
export default createIntegration({ events })
`,
  })
  await mkdir(join(folder, 'lib'))
  const lines = ['// site_viev', 'export const events = {', '  async site_viev() {},', '}']
  await writeFile(join(folder, 'lib/events.ts'), lines.join('\n'))
  const { code, stdout } = await runAnnex(['check', folder])
  assert.equal(code, 3)
  assert.match(stdout, /lib\/events\.ts:3:9 error there is no event "site_viev"/)
})

test('check --json lists the problems of each folder', async (context) => {
  const parent = await makeFolder(context)
  await writePlugin(join(parent, 'a'))
  await writePlugin(join(parent, 'b'), { manifest: 'name: [' })
  const { code, stdout } = await runAnnex(['check', '--json'], { env: { PLUGINS_DIR: parent } })
  assert.equal(code, 3)
  const folders: { name: string | null; problems: { severity: string; line: number }[] }[] =
    JSON.parse(stdout)
  assert.deepEqual(
    folders.map(({ name, problems }) => [name, problems.length > 0]),
    [
      ['greeter', false],
      [null, true],
    ],
  )
})

test('check escapes the escape sequences of a manifest', async (context) => {
  const folder = await writePlugin(join(await makeFolder(context), 'hostile'), {
    manifest: `${manifest}"\\e[2J\u202e": 1\n"\u009b2J": 1\n`,
  })
  const { code, stdout } = await runAnnex(['check', folder])
  assert.equal(code, 3)
  assertHarmless(stdout)
})

test('check of a missing folder ends with exit code 1; check of a manifest names its folder', async (context) => {
  const parent = await makeFolder(context)
  const nothing = await runAnnex(['check', join(parent, 'nothing')])
  assert.equal(nothing.code, 1)
  assert.match(nothing.stderr, /is not there\. Name a folder that holds a service-manifest\.yaml\./)
  const folder = await writePlugin(join(parent, 'greeter'))
  const file = await runAnnex(['check', join(folder, 'service-manifest.yaml')])
  assert.equal(file.code, 1)
  assert.ok(
    file.stderr.includes(`service-manifest.yaml is no folder. Name its folder: ${folder}.`),
    file.stderr,
  )
})

test('check and types warn of a secret without a value; a forbidden name is an error', async (context) => {
  const secret = (variable: string) => `${manifest}secrets:\n  KEY: \${{ env.${variable} }}\n`
  const parent = await makeFolder(context)
  const folder = await writePlugin(join(parent, 'greeter'), { manifest: secret('GREETER_KEY') })
  const { code, stdout, stderr } = await runAnnex(['check', folder])
  assert.equal(code, 0, stdout)
  assert.match(stdout, /16:8 warning the environment variable GREETER_KEY of the secret "KEY" is not set/)
  assert.match(stderr, /0 errors and 1 warning/)
  assert.equal((await runAnnex(['types', folder])).code, 0)
  const refused = await writePlugin(join(parent, 'refused'), { manifest: secret('SECRET_KEY') })
  assert.equal((await runAnnex(['check', refused])).code, 3)
})

test('check bundles the script although the manifest has errors', async (context) => {
  const folder = await writePlugin(join(await makeFolder(context), 'broken'), {
    manifest: manifest.replace('visibility: private', 'visibility: secret'),
    script: `import { createIntegration } from '@annex/runtime'
import { gone } from './gone.ts'
export default createIntegration({ fetch: async () => new Response(gone) })
`,
  })
  const { code, stdout } = await runAnnex(['check', folder])
  assert.equal(code, 3)
  assert.match(stdout, /service-manifest\.yaml:5:13 error /)
  assert.match(stdout, /index\.ts:2:22 error there is no file "\.\/gone\.ts"/)
})

test('check loads the script once, as a server does before a deployment', async (context) => {
  const parent = await makeFolder(context)
  await writePlugin(join(parent, 'a-throws'), {
    script: `import { createIntegration } from '@annex/runtime'
const limits: { most: number } = JSON.parse('{"most":')
export default createIntegration({ fetch: async () => new Response(String(limits.most)) })
`,
  })
  await writePlugin(join(parent, 'b-other'), {
    manifest: manifest.replace('name: greeter', 'name: other'),
    script: `import { createIntegration } from '@annex/runtime'
const made = createIntegration({ fetch: async () => new Response('') })
export default { made }
`,
  })
  await writePlugin(join(parent, 'c-good'), { manifest: manifest.replace('name: greeter', 'name: good') })
  const { code, stdout, stderr } = await runProcess(['check'], { env: { PLUGINS_DIR: parent } })
  assert.equal(code, 3)
  assert.match(stdout, /a-throws\/index\.ts:2:\d+ error the script cannot be loaded: SyntaxError: /)
  assert.match(stdout, /2 \| const limits: \{ most: number \} = JSON\.parse/)
  assert.match(
    stdout,
    /b-other\/index\.ts:1:1 error the script cannot be loaded: The entry script does not export an integration/,
  )
  assert.doesNotMatch(stdout, /c-good/)
  assert.match(stderr, /^2 errors and 0 warnings in 3 plugin folders/)
})

const calling = {
  'a default export': `import { createIntegration } from '@annex/runtime'\nexport default createIntegration({})`,
  'another name': `import { createIntegration as make } from '@annex/runtime'\nexport default make({})`,
  'a namespace': `import * as sdk from '@annex/runtime'\nexport default sdk.createIntegration({})`,
  'a required module': `const { createIntegration } = require('@annex/runtime')\nmodule.exports = createIntegration({})`,
  'another file': `export { default } from './made.ts'`,
}
const mentioning = {
  'a comment': '// createIntegration({})\n/* createIntegration() */ export default 1',
  'a text': `export default "createIntegration({})" + 'createIntegration()'`,
  'a template': 'const a = 1; export default `createIntegration($' + '{a})`',
  'an import': `import { createIntegration } from '@annex/runtime'\nexport { createIntegration }`,
  'a function of its own': 'export function createIntegration() {}',
  'a longer name': 'const recreateIntegration = () => 1; export default recreateIntegration()',
  nothing: '',
}

test('check finds out whether a script calls createIntegration by loading it', async (context) => {
  const parent = await makeFolder(context)
  const write = async (way: string, script: string) => {
    const name = way.replaceAll(' ', '-')
    const folder = await writePlugin(join(parent, name), {
      manifest: manifest.replace('name: greeter', `name: ${name}`),
      script,
    })
    await writeFile(join(folder, 'made.ts'), calling['a default export'])
    return name
  }
  for (const [way, script] of Object.entries(calling)) await write(way, script)
  const wrong: string[] = []
  for (const [way, script] of Object.entries(mentioning)) wrong.push(await write(way, script))
  const { stdout } = await runAnnex(['check'], { env: { PLUGINS_DIR: parent } })
  const refused = [
    ...stdout.matchAll(/([\w-]+)\/index\.ts:1:1 error .* does not export an integration\. Write: /g),
  ]
  assert.deepEqual(refused.map(([, name]) => name).sort(), wrong.sort(), stdout)
})

test('check creates no data folder', async (context) => {
  const parent = await makeFolder(context)
  const folder = await writePlugin(join(parent, 'greeter'))
  const dataDir = join(parent, 'data')
  assert.equal((await runAnnex(['check', folder], { env: { DATA_DIR: dataDir } })).code, 0)
  assert.equal(existsSync(dataDir), false)
})

test('check warns of a handler whose event needs a scope that the manifest lacks', async (context) => {
  const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  events: { page_feedback: async () => {}, installation_setup: async () => {} },
})
`
  const parent = await makeFolder(context)
  const lacking = await writePlugin(join(parent, 'lacking'), { script })
  const { code, stdout } = await runAnnex(['check', lacking])
  assert.equal(code, 0, stdout)
  assert.match(stdout, /service-manifest\.yaml:\d+:\d+ warning .*the script handles "page_feedback"/)
  assert.match(stdout, /add site:views:read or page:feedback:read to "scopes"/)
  assert.doesNotMatch(stdout, /installation_setup/)
  const declaring = await writePlugin(join(parent, 'declaring'), {
    manifest: manifest.replace('scopes: []', 'scopes: [page:feedback:read]'),
    script,
  })
  assert.doesNotMatch((await runAnnex(['check', declaring])).stdout, /page_feedback/)
})

test('check compares the ids of the manifest with those of the script, and names the nearest', async (context) => {
  const script = `import { createComponent, createContentSource, createIntegration } from '@annex/runtime'
const render = async () => ({ type: 'block', children: [] })
const clip = createComponent({ componentId: 'clip', render })
const opened = createComponent({ componentId: 'opened', render })
const menu = createContentSource({ sourceId: 'menu', getRevision: async () => ({ pages: [] }) })
export const open = { action: '@ui.modal.open', componentId: 'opened' }
export default createIntegration({ components: [clip, opened], contentSources: [menu] })
`
  const parts = (block: string, source: string, config: string) =>
    manifest
      .replace(/configurations:.*/s, '')
      .concat(`blocks:\n  - id: ${block}\n    title: Clip\n`)
      .concat(
        `contentSources:\n  - id: ${source}\n    title: Menu\n    configuration: { componentId: opened }\n`,
      )
      .concat(`configurations:\n  account: { componentId: ${config} }\n`)
  const parent = await makeFolder(context)
  const right = await writePlugin(join(parent, 'right'), { manifest: parts('clip', 'menu', 'clip'), script })
  const fine = await runAnnex(['check', right])
  assert.match(fine.stderr, /^0 errors and 0 warnings/, fine.stdout)
  const wrong = await writePlugin(join(parent, 'wrong'), { manifest: parts('clp', 'menus', 'opned'), script })
  const { code, stdout } = await runAnnex(['check', wrong])
  assert.equal(code, 0, stdout)
  const expected = [
    /service-manifest\.yaml:9:9 warning "blocks" names "clp", and the script defines no component of this id/,
    /did you mean "clip"\? it defines: clip, opened/,
    /service-manifest\.yaml:12:9 warning "contentSources" names "menus", .* no content source of this id/,
    /service-manifest\.yaml:16:27 warning "configurations\.account" names "opned"/,
    /index\.ts:3:45 warning the script defines the component "clip", and the manifest does not name it/,
    /index\.ts:5:46 warning the script defines the content source "menu", /,
  ]
  for (const one of expected) assert.match(stdout, one)
  assert.equal(stdout.match(/ warning /g)?.length, 5, stdout)
})

test('check warns of an option of tsconfig.json that would change what runs', async (context) => {
  const folder = await writePlugin(join(await makeFolder(context), 'options'))
  const text = '{\n  // an alias\n  "compilerOptions": {\n    "paths": { "lib/*": ["./lib/*"] },\n  },\n}\n'
  await writeFile(join(folder, 'tsconfig.json'), text)
  const { code, stdout, stderr } = await runAnnex(['check', folder])
  assert.equal(code, 0, stdout)
  assert.match(
    stdout,
    /tsconfig\.json:4:5 warning "paths" of tsconfig\.json is not read: a file is imported by/,
  )
  assert.match(stdout, /4 \| {5}"paths": \{[^\n]*\n +\| {5}\^{7}\n/)
  assert.match(stderr, /0 errors and 1 warning/)
})
