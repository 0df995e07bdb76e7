import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { createRedactor } from '../../host/logs/create-redactor.ts'
import { createKnownSecrets } from '../../host/logs/known-secrets.ts'

const secret = 'S3cret/+"väl ue\\!'
const redact = createRedactor([
  ['KEY', secret],
  ['KEYLONGER', `${secret}-and-more`],
  ['SHORT', '1234567'],
])
const base64 = (text: string) => Buffer.from(text).toString('base64')

const lines: [name: string, line: string, redacted: string][] = [
  ['as it is', `key=${secret};`, 'key=[secret KEY];'],
  ['alone', secret, '[secret KEY]'],
  ['twice', `${secret}${secret}`, '[secret KEY][secret KEY]'],
  ['the longer of two with the same start', `<${secret}-and-more>`, '<[secret KEYLONGER]>'],
  ['in JSON', JSON.stringify({ key: secret }), '{"key":"[secret KEY]"}'],
  ['in a URL', `https://a.test/?k=${encodeURIComponent(secret)}&b=1`, 'https://a.test/?k=[secret KEY]&b=1'],
  ['in a form', new URLSearchParams({ k: 'S3cretxy z12' }).toString(), 'k=S3cretxy+z12'],
  ['in hex', Buffer.from(secret).toString('hex'), '[secret KEY]'],
  ['a secret that is too short', 'at 1234567 ms', 'at 1234567 ms'],
  ['ordinary text', 'fetched 12 pages of S3cret things', 'fetched 12 pages of S3cret things'],
]

describe('a line of the log', () => {
  for (const [name, line, redacted] of lines) {
    it(`shows no secret: ${name}`, () => assert.equal(redact(line), redacted))
  }

  for (const before of ['', 'a', 'ab', 'abc', 'user:']) {
    it(`shows no secret inside longer base64, after "${before}"`, () => {
      for (const after of ['', 'x', 'yz', 'xyz']) {
        const line = redact(`Authorization: Basic ${base64(`${before}${secret}${after}`)}`)
        assert.match(line, /^Authorization: Basic \S{0,8}\[secret KEY\]\S{0,8}$/)
        const url = redact(Buffer.from(`${before}${secret}${after}`).toString('base64url'))
        assert.match(url, /\[secret KEY\]/)
      }
    })
  }

  it('shows no part of a secret where it was cut', () => {
    const mark = '… (cut: a line of the log has at most 8192 characters)'
    const cut = `${'x'.repeat(8_120)}${secret.slice(0, 12)}${mark}`
    assert.equal(redact(cut), `${'x'.repeat(8_120)}[secret KEY]${mark}`)
  })

  it('shows no line of a private key', () => {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
    const hide = createRedactor([['PEM', privateKey]])
    assert.equal(hide(privateKey), '[secret PEM]')
    for (const line of privateKey.split('\n').slice(1, -3)) {
      assert.equal(hide(`  '${line}\\n' +`), "  '[secret PEM]\\n' +")
    }
  })

  it('hides each of 200 random secrets whole', () => {
    const secrets = Array.from({ length: 200 }, (_, n): [string, string] => [
      `S${n}`,
      randomBytes(6 + (n % 40)).toString('base64url'),
    ])
    const hide = createRedactor(secrets)
    for (const [name, value] of secrets) {
      assert.equal(hide(`before ${value} after ${value}`), `before [secret ${name}] after [secret ${name}]`)
    }
  })

  it('is redacted in bounded time for hostile secrets', () => {
    const evil = createRedactor(
      Array.from({ length: 100 }, (_, n): [string, string] => [
        `S${n}`,
        `${'a'.repeat(n + 8)}${'b'.repeat(60)}`,
      ]),
    )
    const started = process.threadCpuUsage()
    for (let n = 0; n < 100; n += 1) evil(`${'a'.repeat(7_000)}c`)
    // Of its own: others run beside this test.
    const usedMs = process.threadCpuUsage(started).user / 1_000
    assert.ok(usedMs < 200, `${usedMs} ms of CPU time`)
  })
})

describe('the known secrets', () => {
  it('are redacted in lines of their owner only, so that a script cannot guess others', () => {
    const known = createKnownSecrets([])
    known.learn('inst_a', [['PASSWORD', 'correct-horse']])
    assert.equal(known.redact('inst_a', 'it is correct-horse'), 'it is [secret PASSWORD]')
    assert.equal(known.redact('inst_b', 'is it correct-horse'), 'is it correct-horse')
  })

  it('stay redacted when more are learned, and old tokens are dropped first', () => {
    const known = createKnownSecrets([])
    for (let n = 0; n < 3_000; n += 1) {
      known.learn('inst_a', [
        ['KEY', 'the-lasting-key'],
        ['apiTokens.integration', `token-${n}-of-mine`],
      ])
    }
    const line = 'the-lasting-key token-2999-of-mine token-1-of-mine'
    assert.equal(known.redact('inst_a', line), '[secret KEY] [secret apiTokens.integration] token-1-of-mine')
  })

  it('are redacted for all owners in the host’s own log', () => {
    const known = createKnownSecrets([['SECRET_KEY', 'host-key-in-base64==']])
    known.learn('inst_a', [['KEY', 'line\none "quoted"']])
    const line = JSON.stringify({ msg: 'line\none "quoted"', key: 'host-key-in-base64==' })
    assert.equal(known.redactAny(line), '{"msg":"[secret KEY]","key":"[secret SECRET_KEY]"}')
  })

  it('include texts that resemble an Annex token or follow the word Bearer', () => {
    const known = createKnownSecrets([])
    assert.equal(
      known.redact('x', `annex_op_${'a'.repeat(32)} Bearer ${'b'.repeat(40)}. Bearer authentication`),
      '[secret Annex token] Bearer [secret bearer token] Bearer authentication',
    )
    for (const kind of ['op', 'org', 'setup', 'link', 'invite', 'reset'])
      assert.equal(
        known.redact('x', `/join#annex_${kind}_${'a-_'.repeat(12)}.`),
        '/join#[secret Annex token].',
      )
  })

  it('include the cookies of Annex, under each of their names', () => {
    const known = createKnownSecrets([])
    for (const name of ['annex_session', 'annex_session_8080', '__Host-annex_session', '__host-ANNEX-flow_1'])
      assert.equal(
        known.redactAny(`{"cookie":"a=1; ${name}=${'Ab-_'.repeat(8)}; b=2"}`),
        `{"cookie":"a=1; ${name}=[secret Annex cookie]; b=2"}`,
      )
    assert.equal(known.redactAny('my_annex_x=12345678; annex_x=on'), 'my_annex_x=12345678; annex_x=on')
  })
})
