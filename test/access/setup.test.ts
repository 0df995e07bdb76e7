import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readSecretKey } from '../../host/access/open-secret-box.ts'
import { createScriptTokens } from '../../host/access/script-tokens.ts'
import { createSecretBox } from '../../host/access/secret-box.ts'
import { isAnnexError } from '../../host/errors.ts'
import { agreementTo } from '../support/agreement.ts'
import { startAnnex } from '../support/annex.ts'

describe('the first start', () => {
  it('gives a setup token that makes one operator, once', async () => {
    const annex = await startAnnex()
    try {
      const { setupToken } = annex.server
      const redeemed = await annex.api('POST', '/v1/setup', { token: setupToken }, '')
      assert.equal(redeemed.status, 200)
      const { token } = redeemed.json
      assert.equal((await annex.api('GET', '/v1/orgs', undefined, token)).json.items[0].subdomain, 'home')
      const again = await annex.api('POST', '/v1/setup', { token: setupToken }, '')
      assert.deepEqual([again.status, again.json.error.code], [401, 'unauthorized'])
      assert.equal(
        (await annex.api('GET', '/v1/orgs', undefined, setupToken)).status,
        401,
        'it is no bearer token',
      )
      const [entry, ...others] = (await annex.api('GET', '/v1/audit?action=setup.redeem')).json.items
      assert.deepEqual([entry.actor.kind, entry.address, others], ['token', '127.0.0.1', []])
      const { items } = (await annex.api('GET', '/v1/tokens')).json
      assert.equal(
        items.find(({ label }: { label: string }) => label === 'setup').id,
        entry.subject.id,
        'the operator’s token',
      )
    } finally {
      await annex.close()
    }
  })

  it('gives a new token at each start, and ends those of the starts before', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'annex-data-'))
    const person = { email: 'o@example.com', password: 'a sentence that is long' }
    const links: string[] = []
    try {
      for (const _start of ['first', 'second', 'third']) {
        const annex = await startAnnex({ dataDir: folder })
        try {
          for (const link of links) {
            const { status, json } = await annex.api('POST', '/v1/links', { link }, '')
            assert.deepEqual([status, json.error.code], [401, 'unauthorized'])
            assert.match(json.error.message, /A restart prints a new one while there is no operator/)
            assert.equal((await annex.api('POST', '/v1/accounts', { link, ...person }, '')).status, 401)
            assert.equal((await annex.api('POST', '/v1/setup', { token: link }, '')).status, 401)
          }
          const { setupToken: link = '', consoleUrl } = annex.server
          assert.equal((await annex.api('POST', '/v1/links', { link }, '')).json.kind, 'setup')
          assert.match(consoleUrl, /^http:\/\/localhost:\d+$/)
          links.push(link)
        } finally {
          await annex.close()
        }
      }
      assert.equal(new Set(links).size, 3)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('gives no token once an operator has an account, and keeps its files readable for their owner only', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'annex-data-'))
    const first = await startAnnex({ dataDir: folder })
    const { setupToken: link, setupUrl } = first.server
    assert.match(setupUrl ?? '', /^http:\/\/localhost:\d+\/setup#annex_setup_[\w-]+$/)
    const person = { email: 'o@example.com', password: 'a sentence that is long' }
    assert.equal((await first.api('POST', '/v1/accounts', { link, ...person }, '')).status, 201)
    await first.close()
    const second = await startAnnex({ dataDir: folder })
    try {
      assert.equal(second.server.setupToken, undefined)
      const files = readdirSync(folder, { recursive: true }) as string[]
      for (const name of ['secret.key', 'cli.token', 'server.json', 'annex.sqlite-wal', 'host.id']) {
        assert.ok(files.includes(name), name)
      }
      assert.ok(files.some((name) => name.startsWith('cache/')))
      for (const file of ['', ...files]) assert.equal(statSync(join(folder, file)).mode & 0o077, 0, file)
      await assert.rejects(startAnnex({ dataDir: folder }), /Another Annex is using the data folder/)
    } finally {
      await second.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('is refused without the key of the database, and makes no new key', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'annex-data-'))
    const key = join(folder, 'secret.key')
    try {
      await (await startAnnex({ dataDir: folder })).close()
      renameSync(key, `${key}.backup`)
      for (const _attempt of ['first', 'second']) {
        const lost = { code: 'settings_invalid', message: /^SECRET_KEY: this host has no key.*from a backup/ }
        await assert.rejects(startAnnex({ dataDir: folder }), lost)
        assert.equal(existsSync(key), false)
      }
      renameSync(`${key}.backup`, key)
      await (await startAnnex({ dataDir: folder })).close()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('stores no secret and no token in plain text', async () => {
    const annex = await startAnnex({
      plugins: {
        quiet: {
          script: `import { createIntegration } from '@annex/runtime'\nexport default createIntegration({})`,
        },
      },
    })
    const { organization } = annex.server.samples
    const { json } = await annex.api('POST', '/v1/integrations/quiet/installations', {
      organization,
      ...(await agreementTo(annex, 'quiet')),
    })
    const { token } = (await annex.api('POST', `/v1/orgs/${organization}/tokens`, {})).json
    const { dataDir } = annex
    const bytes = ['annex.sqlite', 'annex.sqlite-wal']
      .map((file) => readFileSync(join(dataDir, file), 'latin1'))
      .join('')
    await annex.close()
    assert.ok(bytes.includes(json.id), 'the files that were read are those that hold the installation')
    assert.ok(!bytes.includes(json.signingSecret))
    assert.ok(!bytes.includes(token))
  })
})

describe('a secret box', () => {
  it('opens only what it sealed', () => {
    const box = createSecretBox(Buffer.alloc(32, 1))
    const sealed = box.seal('whsec_x')
    assert.equal(box.open(sealed), 'whsec_x')
    assert.notEqual(box.seal('whsec_x'), sealed)
    const other = createSecretBox(Buffer.alloc(32, 2))
    assert.throws(
      () => other.open(sealed),
      (error) => isAnnexError(error) && /is not the one that encrypted it/.test(error.message),
    )
    assert.notDeepEqual(box.deriveKey('a'), box.deriveKey('b'))
  })

  it('refuses a key of another length, and says how to make one', () => {
    assert.throws(
      () => readSecretKey('c2hvcnQ=', '/nowhere'),
      /SECRET_KEY is not 32 bytes in base64.*openssl rand/,
    )
  })
})

describe('a script’s token', () => {
  const caller = {
    kind: 'installation',
    integration: 'x',
    installationId: 'inst_1',
    scopes: ['space:content:read'],
  } as const

  it('names its caller, and is valid with its own key only', async () => {
    const tokens = createScriptTokens(Buffer.alloc(32, 1))
    const token = await tokens.issue(caller)
    assert.deepEqual(await tokens.verify(token), caller)
    assert.equal(await createScriptTokens(Buffer.alloc(32, 2)).verify(token), undefined)
    assert.equal(await tokens.verify(`${token}x`), undefined)
  })

  it('is invalid without a signature', async () => {
    const tokens = createScriptTokens(Buffer.alloc(32, 1))
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    assert.equal(await tokens.verify(`${part({ alg: 'none' })}.${part({ caller })}.`), undefined)
  })
})
