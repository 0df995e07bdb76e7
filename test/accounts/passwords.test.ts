import assert from 'node:assert/strict'
import { scryptSync } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Context } from 'koa'
import { hashPassword, isPassword } from '../../host/accounts/passwords.ts'
import { createRateLimits } from '../../host/http/rate-limits.ts'
import { type Annex, startAnnex } from '../support/annex.ts'
import { createOwnPage, type OwnPage, type PageAnswer, password, setUp } from '../support/own-page.ts'

const refusal = ({ status, json }: PageAnswer) => [status, json.error?.code]

const salt = Buffer.alloc(16, 1)
const derived = scryptSync('older', salt, 32, { N: 2 ** 10, r: 8, p: 1 })
const cheap = `scrypt$10$8$1$${salt.toString('base64url')}$${derived.toString('base64url')}`

describe('a password', () => {
  it('is stored as a salted hash with its parameters', async () => {
    const [one, other] = await Promise.all([hashPassword(password), hashPassword(password)])
    assert.match(one, /^scrypt\$17\$8\$1\$[\w-]{22}\$[\w-]{43}$/)
    assert.notEqual(one, other)
    assert.equal(await isPassword(password, one), true)
    assert.equal(await isPassword(`${password} `, one), false)
  })

  it('is the same one from keyboards that compose letters in different ways', async () => {
    const stored = await hashPassword('Stra\u00dfe caf\u00e9 \ufb01n')
    assert.equal(await isPassword('Stra\u00dfe cafe\u0301 fin', stored), true)
    assert.equal(await isPassword('Strasse cafe\u0301 fin', stored), false)
  })

  it('is compared by the parameters that it was stored with', async () => {
    assert.deepEqual([await isPassword('older', cheap), await isPassword('other', cheap)], [true, false])
  })

  it('takes as long without an account, and never fits', async () => {
    const stored = await hashPassword(password)
    const cpuOf = async (compare: () => Promise<boolean>) => {
      const before = process.cpuUsage()
      assert.equal(await compare(), false)
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    const known = await cpuOf(() => isPassword('a wrong password', stored))
    for (const without of [undefined, null]) {
      const unknown = await cpuOf(() => isPassword('a wrong password', without))
      assert.ok(unknown > known / 2 && unknown < known * 2, `${unknown} µs, ${known} µs with an account`)
    }
    const long = await cpuOf(() => isPassword('x'.repeat(1_025), stored))
    assert.ok(long > known / 2, `${long} µs`)
    assert.equal(await isPassword('', undefined), false)
  })

  it('is checked two at a time, with a short queue, and refused above it', async () => {
    const answers = await Promise.allSettled(Array.from({ length: 25 }, () => isPassword('x', cheap)))
    const refused = answers.filter(({ status }) => status === 'rejected')
    assert.equal(refused.length, 3, '2 run and 20 wait')
    for (const one of refused)
      assert.match(String((one as PromiseRejectedResult).reason), /Too many passwords/)
    assert.equal(await isPassword('x', cheap), false, 'the queue is empty again')
  })
})

describe('a guess of a password', () => {
  let annex: Annex
  let page: OwnPage
  const email = 'operator@example.com'
  before(async () => {
    // The limits of tokens and visitors are off.
    annex = await startAnnex({ flags: { RATE_LIMIT_TOKEN: '0', RATE_LIMIT_VISITOR: '0' } })
    page = await setUp(annex)
  })
  after(() => annex.close())

  const guess = (body: object) => createOwnPage(annex.url).call('POST', '/v1/sessions', body)

  it('has one answer, whether an account has the email or not', async () => {
    const answers = await Promise.all([
      guess({ email, password: 'a wrong password' }),
      guess({ email: 'unknown@example.com', password: 'a wrong password' }),
      guess({ email: '', password: '' }),
      guess({ email: 'OPERATOR@example.com', password: '' }),
    ])
    const texts = answers.map(({ status, json }) => `${status} ${json.error.code} ${json.error.message}`)
    assert.deepEqual([...new Set(texts)], ['401 unauthorized No account has this email with this password.'])
    for (const body of [{}, { email }, { password }])
      assert.deepEqual(refusal(await guess(body)), [422, 'body_invalid'])
  })

  it('is limited for each account, and a right one is refused then too', async () => {
    for (let left = 8; left > 0; left -= 1) {
      const name = left % 2 ? email : email.toUpperCase()
      assert.equal((await guess({ email: name, password: 'wrong' })).status, 401)
    }
    const { status, headers, json } = await guess({ email, password })
    assert.deepEqual([status, json.error.code], [429, 'rate_limited'])
    assert.ok(Number(headers['retry-after']) > 60)
    const confirm = await page.call('POST', '/v1/sessions/current/confirmation', { password: 'wrong' })
    assert.deepEqual(refusal(confirm), [429, 'rate_limited'], 'a confirmation is a guess, too')
    assert.equal((await page.call('GET', '/v1/me')).status, 200, 'a session works on')
    const { json: made } = await annex.api('POST', '/v1/resets/links', { email })
    const reset = await createOwnPage(annex.url).call('POST', '/v1/resets', { link: made.link, password })
    assert.equal(reset.status, 201, 'and so does a reset link')
  })

  it('is limited for each address and each email, whether an account has it or not', async () => {
    const { countTry, forgiveTry } = createRateLimits({ token: 0, visitor: 0 }, true)
    const from = (address: string) =>
      ({
        req: {
          headers: { 'x-forwarded-for': `6.6.6.6, ${address}` },
          socket: { remoteAddress: '127.0.0.1' },
        },
        set() {},
      }) as unknown as Context
    const tries = async (count: number, address: (n: number) => string, name: (n: number) => string) => {
      const outcomes: string[] = []
      for (let n = 0; n < count; n += 1) {
        await countTry(from(address(n)), name(n)).then(
          () => outcomes.push('counted'),
          ({ code }) => outcomes.push(code),
        )
      }
      return outcomes
    }
    const counted = (count: number) => Array.from({ length: count }, () => 'counted')
    const ofOne = await tries(
      11,
      (n) => `192.0.2.${n}`,
      () => 'unknown@example.com',
    )
    assert.deepEqual(ofOne, [...counted(10), 'rate_limited'])
    const fromOne = await tries(
      51,
      () => '192.0.2.99',
      (n) => `any-${n}@example.com`,
    )
    assert.deepEqual(fromOne, [...counted(50), 'rate_limited'])
    await forgiveTry(from('192.0.2.99'), 'any-1@example.com')
    const after = await tries(
      2,
      () => '192.0.2.99',
      () => 'any-1@example.com',
    )
    assert.equal(after.includes('rate_limited'), true)
  })
})
