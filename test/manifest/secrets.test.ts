import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settingsTable } from '../../host/config/settings-table.ts'
import { readManifest } from '../../host/manifest/read-manifest.ts'
import { readSecrets } from '../../host/manifest/secrets.ts'
import { createFolder, createManifest } from '../bundle/plugin-folder.ts'
import { options, read, sound, textsOf } from './reading.ts'

const secret = (variable: string) => `secrets:\n  KEY: \${{ env.${variable} }}\n`
const strangers = sound.replace('home', 'acme')

test('the operator’s own integration may name any variable that is its own to name', async (t) => {
  assert.deepEqual(textsOf(await read(t, sound + secret('LINEAR_CLIENT_ID'))), [])
})

test('a variable that is not set, or is empty, is an error that says what to set', async (t) => {
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

test('a stranger’s integration may name only variables that carry its name', async (t) => {
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

test('nobody may name a setting of Annex or what belongs to the machine, set or not', async (t) => {
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
    assert.deepEqual(readSecrets(manifest, { ...options, environment }), {})
  }
})

test('secrets are read by their names', () => {
  const manifest = createManifest({
    secrets: { ID: `\${{env.LINEAR_CLIENT_ID}}`, NONE: `\${{ env.EMPTY }}` },
  })
  assert.deepEqual(readSecrets(manifest, options), { ID: 'x' })
})

test('a secret that is written out is an error', async (t) => {
  for (const value of ['s3cret', `\${{ env.A }}\${{ env.B }}`, `\${{ process.A }}`, `\${{ env.A-B }}`]) {
    const text = textsOf(await read(t, `${sound}secrets:\n  KEY: "${value}"\n`)).join()
    assert.match(
      text,
      /9:8 error "secrets" › "KEY" cannot be .*[\s\S]*hint: expected: a reference to an environment variable, such as "\$\{\{ env\.API_KEY \}\}"/,
    )
  }
})
