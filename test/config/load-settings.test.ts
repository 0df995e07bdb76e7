import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { loadSettings } from '../../host/config/load-settings.ts'
import { parseRoleMapping } from '../../host/config/role-mapping.ts'
import { settingsTable } from '../../host/config/settings-table.ts'
import { isAnnexError } from '../../host/errors.ts'

const folder = mkdtempSync(join(tmpdir(), 'annex-settings-'))
after(() => rmSync(folder, { recursive: true }))
const envFile = join(folder, '.env')
writeFileSync(envFile, 'PORT=1\nHOST=file\nLOG_LEVEL=warn\nPLUGIN_SECRET=kept\n')

describe('settings', () => {
  it('come from a flag, else the environment, else .env, else the default', () => {
    const { settings, sources } = loadSettings({
      flags: { PORT: '3' },
      environment: { PORT: '2', HOST: 'environment' },
      envFile,
    })
    assert.deepEqual([settings.PORT, sources.PORT], [3, 'flag'])
    assert.deepEqual([settings.HOST, sources.HOST], ['environment', 'environment'])
    assert.deepEqual([settings.LOG_LEVEL, sources.LOG_LEVEL], ['warn', '.env'])
    assert.deepEqual([settings.DATA_DIR, sources.DATA_DIR], ['data', 'default'])
  })

  it('can be lists, flags and numbers', () => {
    const { settings } = loadSettings({
      environment: { EGRESS_ALLOW: 'a.example, 10.0.0.0/8,', WATCH: 'yes' },
      envFile,
    })
    assert.deepEqual(settings.EGRESS_ALLOW, ['a.example', '10.0.0.0/8'])
    assert.equal(settings.WATCH, true)
  })

  it('that are wrong are all named at once, with their sources', () => {
    assert.throws(
      () => loadSettings({ environment: { PORT: '70000', WATCH: 'maybe', SANDBOX_CPU_MS: '1.5' }, envFile }),
      (error) => {
        assert.ok(isAnnexError(error))
        assert.equal(error.code, 'settings_invalid')
        assert.match(error.message, /PORT: 70000 is not within 0 to 65535 \(from environment\)/)
        assert.match(error.message, /WATCH: "maybe" is neither true nor false/)
        assert.match(error.message, /SANDBOX_CPU_MS: "1\.5" is not a whole number/)
        return true
      },
    )
  })

  it('that are times have a maximum, below the limit of timers', () => {
    const longestTimerMs = 2 ** 31 - 1
    const spareMs = 2 ** 30
    const names = Object.keys(settingsTable).filter((name) => name.endsWith('_MS'))
    assert.ok(names.length >= 6)
    for (const name of names) {
      const { min, max } = settingsTable[name as 'DELIVERY_TIMEOUT_MS']
      assert.ok(max + spareMs < longestTimerMs, name)
      assert.equal(
        loadSettings({ environment: { [name]: `${max}` }, envFile }).settings[name as 'SANDBOX_WALL_MS'],
        max,
      )
      for (const tooLong of [max + 1, longestTimerMs, longestTimerMs + 1]) {
        assert.throws(() => loadSettings({ environment: { [name]: `${tooLong}` }, envFile }), {
          code: 'settings_invalid',
          message: new RegExp(`${name}: ${tooLong} is not within ${min} to ${max} \\(from environment\\)`),
        })
      }
    }
    // In ms these are compared with times of the database, whose integers have 64 bits.
    for (const name of ['DELIVERY_GIVE_UP_HOURS', 'RETENTION_DAYS']) {
      assert.throws(
        () => loadSettings({ environment: { [name]: `${Number.MAX_SAFE_INTEGER}` }, envFile }),
        new RegExp(`${name}: \\d+ is not within`),
      )
    }
  })

  it('can be in files of their own, and a missing file is an error', () => {
    const key = Buffer.alloc(32, 1).toString('base64')
    writeFileSync(join(folder, 'key'), `${key}\n`)
    assert.equal(
      loadSettings({ environment: { SECRET_KEY_FILE: join(folder, 'key') }, envFile }).settings.SECRET_KEY,
      key,
    )
    assert.throws(
      () => loadSettings({ environment: { SECRET_KEY_FILE: '/nowhere' }, envFile }),
      /SECRET_KEY_FILE: the file \/nowhere cannot be read/,
    )
  })

  it('are checked: one of a list, an address without a path, or a key of 32 bytes', () => {
    for (const [wrong, message] of [
      [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL: "loud" is none of trace, debug, info, warn, error, fatal, silent/],
      [{ SANDBOX_REQUIRE: 'watchdog,moat' }, /SANDBOX_REQUIRE: "moat" is none of namespace, watchdog/],
      [{ PUBLIC_URL: 'annex.example' }, /PUBLIC_URL: "annex\.example" is not an http or https address/],
      [{ PUBLIC_URL: 'https://annex.example/path' }, /without a path/],
      [{ PUBLIC_URL: 'https://annex.example/?' }, /without a path/],
      [{ PUBLIC_URL: 'ftp://annex.example' }, /PUBLIC_URL/],
      [{ SECRET_KEY: 'c2hvcnQ=' }, /SECRET_KEY: it is not 32 bytes in base64/],
      [
        { HOST: 'http://127.0.0.1' },
        /HOST: "http:\/\/127\.0\.0\.1" is no address and no host name.*0\.0\.0\.0/,
      ],
      [{ HOST: '127.0.0.1:80' }, /HOST: .*without scheme, port or path/],
      [{ HOST: '999.1.1.1' }, /HOST: "999\.1\.1\.1"/],
      [
        { EGRESS_ALLOW: 'ok.example,http://x/' },
        /EGRESS_ALLOW: "http:\/\/x\/" is no host name, address or CIDR/,
      ],
      [{ EGRESS_ALLOW: '10.0.0.0/33' }, /EGRESS_ALLOW: .*Write for example "ci\.internal"/],
    ] as const) {
      assert.throws(() => loadSettings({ environment: wrong, envFile }), {
        code: 'settings_invalid',
        message,
      })
    }
    for (const HOST of ['0.0.0.0', '::', '::1', 'localhost', 'annex.internal.']) {
      assert.equal(loadSettings({ environment: { HOST }, envFile }).settings.HOST, HOST)
    }
    for (const PUBLIC_URL of ['', 'https://annex.example', 'http://annex.example:8080/']) {
      assert.equal(loadSettings({ environment: { PUBLIC_URL }, envFile }).settings.PUBLIC_URL, PUBLIC_URL)
    }
  })

  it('of an OpenID provider need each other, and name what is wrong', () => {
    const client = { OPENID_CLIENT_ID: 'annex', OPENID_CLIENT_SECRET: 'kept private' }
    const issuer = 'https://login.example/realms/company'
    const load = (environment: Record<string, string>) => loadSettings({ environment, envFile }).settings
    for (const OPENID_ISSUER of [
      issuer,
      'https://login.example',
      'https://login.example/',
      'http://[::1]:1/a',
    ]) {
      assert.equal(load({ ...client, OPENID_ISSUER }).OPENID_ISSUER, OPENID_ISSUER)
    }
    const roles = 'engineering=acme:admin, CN=a%2CDC=b=acme:reader ,100%25=home:operator,'
    assert.deepEqual(load({ ...client, OPENID_ISSUER: issuer, OPENID_ROLES: roles }).OPENID_ROLES, [
      ...['engineering=acme:admin', 'CN=a%2CDC=b=acme:reader', '100%25=home:operator'],
    ])
    assert.deepEqual(parseRoleMapping('CN=a%2CDC=b=acme:reader'), {
      ...{ value: 'CN=a,DC=b', organization: 'acme', role: 'reader' },
    })
    const refused: [Record<string, string>, RegExp][] = [
      [{ OPENID_ISSUER: issuer }, /OPENID_CLIENT_ID: is required.*\n.*OPENID_CLIENT_SECRET: is required/],
      [{ ...client }, /OPENID_CLIENT_ID: is set, and OPENID_ISSUER is not/],
      [{ OPENID_ROLES: roles }, /OPENID_ROLES: is set, and OPENID_ISSUER is not/],
      ...[
        'login.example',
        'http://login.example',
        'http://localhost.example',
        'https://a:b@login.example',
        'https://login.example/?a',
        'https://login.example/#a',
        'ftp://localhost',
      ].map((OPENID_ISSUER): [Record<string, string>, RegExp] => [
        { ...client, OPENID_ISSUER },
        /OPENID_ISSUER: ".*" is not an https address/,
      ]),
      ...[
        'engineering',
        'engineering=acme',
        '=acme:admin',
        'a=acme:owner',
        'a=:admin',
        'a=b c:admin',
        '%=acme:admin',
      ].map((OPENID_ROLES): [Record<string, string>, RegExp] => [
        { ...client, OPENID_ISSUER: issuer, OPENID_ROLES },
        /OPENID_ROLES: ".*" is no VALUE=ORGANIZATION:ROLE/,
      ]),
    ]
    for (const [wrong, message] of refused) {
      assert.throws(() => load(wrong), { code: 'settings_invalid', message }, JSON.stringify(wrong))
      assert.throws(
        () => load(wrong),
        (error: Error) => !error.message.includes('kept private'),
      )
    }
  })

  it('leave other variables of .env to the secrets of manifests', () => {
    const { variables } = loadSettings({ environment: { OTHER: 'x' }, envFile })
    assert.deepEqual([variables.PLUGIN_SECRET, variables.OTHER], ['kept', 'x'])
  })
})
