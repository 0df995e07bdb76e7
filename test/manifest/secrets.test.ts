import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settingsTable } from '../../host/config/settings-table.ts'
import { readManifest } from '../../host/manifest/read-manifest.ts'
import { readSecrets } from '../../host/manifest/secrets.ts'
import { createFolder, createManifest } from '../bundle/plugin-folder.ts'
import { options, read, sound, textsOf } from './reading.ts'

const secret = (variable: string) => `secrets:\n  KEY: \${{ env.${variable} }}\n`
const strangers = sound.replace('home', 'acme')

test('the operator’s own integration may name any free variable', async (t) => {
  assert.deepEqual(textsOf(await read(t, sound + secret('LINEAR_CLIENT_ID'))), [])
})

test('a missing or empty variable is an error with the next step', async (t) => {
  for (const variable of ['NOT_SET', 'EMPTY', 'toString', 'constructor']) {
    const text = textsOf(await read(t, sound + secret(variable))).join()
    assert.ok(
      text.startsWith(
        `service-manifest.yaml:9:8 error the environment variable ${variable} of the secret "KEY" is not set`,
      ),
      text,
    )
    assert.ok(text.includes(`hint: write ${variable}=… into .env and reload`), text)
  }
})

test('a stranger’s integration may name only variables with its prefix', async (t) => {
  assert.deepEqual(textsOf(await read(t, strangers + secret('PLUGIN_SAMPLE__KEY'))), [])
  for (const variable of [
    'LINEAR_CLIENT_ID',
    'PLUGIN_SAMPLE_TWO__KEY',
    'PLUGIN_SAMPLE__',
    'plugin_sample__key',
    'SAMPLE_KEY',
  ]) {
    assert.deepEqual(
      textsOf(await read(t, strangers + secret(variable))).map((text) => text.split('\n')[0]),
      [
        `service-manifest.yaml:9:8 error the secret "KEY" may not read the environment variable ${variable}: an integration of another organization may read only variables that begin with PLUGIN_SAMPLE__`,
      ],
    )
  }
})

test('no integration may name a setting of Annex or a variable of the machine, set or not', async (t) => {
  const settings = Object.keys(settingsTable).flatMap((name) => [name, `${name}_FILE`, name.toLowerCase()])
  const machine = [
    'PATH',
    'HOME',
    'NODE_OPTIONS',
    'npm_config_registry',
    'AWS_SECRET_ACCESS_KEY',
    'PGPASSWORD',
    'SSH_AUTH_SOCK',
    'GITHUB_TOKEN',
    'HTTPS_PROXY',
    'LD_PRELOAD',
  ]
  const all = [...settings, ...machine]
  const environment = Object.fromEntries(all.map((name) => [name, 'the-secret-of-the-host']))
  for (const variable of all) {
    const folder = await createFolder(t, { 'service-manifest.yaml': sound + secret(variable) })
    const refusals = await Promise.all(
      [{}, environment].map((given) => readManifest(folder, { ...options, environment: given })),
    )
    const [unset, set] = refusals.map((reading) => textsOf(reading).join())
    assert.match(
      set ?? '',
      /9:8 error the secret "KEY" may not read the environment variable \w+: it (is a setting of Annex itself|belongs to the machine)/,
    )
    assert.equal(set, unset, 'the answer tells whether the variable is set')
    const manifest = createManifest({ secrets: { KEY: `\${{ env.${variable} }}` } })
    assert.deepEqual(readSecrets(manifest, { ...options, environment }, 'org_1'), { KEY: null })
  }
})

test('secrets are read by their names', () => {
  const manifest = createManifest({
    secrets: { ID: `\${{env.LINEAR_CLIENT_ID}}`, NONE: `\${{ env.EMPTY }}` },
  })
  assert.deepEqual(readSecrets(manifest, options, 'org_1'), { ID: 'x', NONE: null })
})

test('a literal secret is an error', async (t) => {
  for (const value of ['s3cret', `\${{ env.A }}\${{ env.B }}`, `\${{ process.A }}`, `\${{ env.A-B }}`]) {
    const text = textsOf(await read(t, `${sound}secrets:\n  KEY: "${value}"\n`)).join()
    assert.match(
      text,
      /9:8 error "secrets" › "KEY" cannot be .*[\s\S]*hint: expected: a reference to an environment variable, such as "\$\{\{ env\.API_KEY \}\}"/,
    )
  }
})

test('a reference to a password store is an error with the fix', async (t) => {
  const written = [
    'op://vault/ledger/client id',
    '"op://vault/ledger/secret"',
    `\${{ "op://vault/ledger/secret" }}`,
    `'\${{ op://vault/ledger/secret }}'`,
    'OP://vault/x',
    'vault://kv/ledger#secret',
    'aws-sm://ledger/secret',
  ]
  for (const value of written) {
    const [text, ...more] = textsOf(await read(t, `${sound}secrets:\n  KEY: ${value}\n`))
    assert.deepEqual(more, [])
    assert.match(
      text ?? '',
      /9:8 error "secrets" › "KEY" names "[\w-]+:\/\/[^"]+" in a password store, which Annex does not read/,
    )
    assert.match(text ?? '', /hint: name a variable, such as "\$\{\{ env\.KEY \}\}", .*: docs\/secrets\.md/)
  }
})

test('a variable with a reference, blanks or the text "undefined" counts as missing', async (t) => {
  const whys: [string, RegExp][] = [
    ['op://vault/ledger/secret', /holds "op:\/\/vault\/ledger\/secret", a reference to a password store/],
    [' \t', /is not set/],
    ['undefined', /holds the text "undefined", so it is not set/],
  ]
  for (const [value, why] of whys) {
    const environment = { API_KEY: value }
    const folder = await createFolder(t, { 'service-manifest.yaml': sound + secret('API_KEY') })
    const [text, ...more] = textsOf(await readManifest(folder, { ...options, environment }))
    assert.deepEqual(more, [])
    assert.match(text ?? '', why)
    const manifest = createManifest({ secrets: { KEY: `\${{ env.API_KEY }}` } })
    assert.deepEqual(readSecrets(manifest, { ...options, environment }, 'org_1'), { KEY: null })
  }
  const environment = { API_KEY: 'https://provider.example' }
  const manifest = createManifest({ secrets: { KEY: `\${{ env.API_KEY }}` } })
  assert.deepEqual(readSecrets(manifest, { ...options, environment }, 'org_1'), { KEY: environment.API_KEY })
})

test('the owner of an integration determines its variables, not its manifest', () => {
  const manifest = createManifest({ organization: 'home', secrets: { KEY: `\${{ env.LINEAR_CLIENT_ID }}` } })
  assert.deepEqual(readSecrets(manifest, options, 'org_2'), { KEY: null })
  assert.deepEqual(readSecrets({ ...manifest, organization: 'ext-home' }, options, 'org_1'), { KEY: 'x' })
})
