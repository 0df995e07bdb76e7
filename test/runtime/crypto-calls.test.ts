import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type CryptoAnswer,
  type CryptoCaller,
  createCryptoCalls,
} from '../../runtime/process/crypto/crypto-calls.ts'
import { createCryptoTurns, createTurns } from '../../runtime/process/crypto/crypto-turns.ts'
import { createThreadClock } from '../../runtime/process/crypto/thread-time.ts'
import { createCpuClock } from '../../runtime/process/isolate/cpu-clock.ts'

const bytesOf = (length: number) => new ArrayBuffer(length)
const range = (start: number, length: number) => ({ $bytes: [start, length] })
const sha256 = { name: 'SHA-256' }
const hmac = { name: 'HMAC', hash: sha256 }
const rsa = { name: 'RSA-PSS', hash: sha256, modulusLength: 2048, publicExponent: range(0, 3) }
const f4 = new Uint8Array([1, 0, 1]).buffer

/** The calls of one sandbox, as promises. */
const createCaller = (given: Partial<CryptoCaller> = {}) => {
  const caller = {
    turns: createCryptoTurns(),
    threadMs: 60_000,
    isLive: () => true,
    cpuClock: createCpuClock(),
    charge: () => {},
    ...given,
  }
  const calls = createCryptoCalls(caller)
  const call = (name: string, args: unknown, bytes?: ArrayBuffer, dispatch = 1) =>
    new Promise<CryptoAnswer>((resolve) => calls.start({ dispatch, name, args, bytes }, resolve))
  return { call, close: calls.close }
}
const { call } = createCaller()
const errorOf = (answer: CryptoAnswer) => (answer.ok ? { name: 'ok', message: '' } : answer.error)
const valueIn = (answer: CryptoAnswer) => (answer.ok ? answer.value : assert.fail(answer.error.message))
const idOf = (answer: CryptoAnswer) => (valueIn(answer) as { id: number }).id
const importHmac = async (from: typeof call, length = 4) =>
  idOf(await from('crypto.importKey', ['raw', range(0, length), hmac, false, ['sign']], bytesOf(length)))
const sign = (from: typeof call, $key: number) => from('crypto.sign', [hmac, { $key }, range(0, 0)])

describe('crypto calls in the process', () => {
  const deep = JSON.parse(`${'{"hash":'.repeat(50)}1${'}'.repeat(50)}`)
  const ownProto = JSON.parse('{"__proto__":{"name":"SHA-256"}}')
  const pbkdf2 = { name: 'PBKDF2', hash: sha256, salt: range(0, 1), iterations: 1 }
  const hostile: [name: string, call: string, args: unknown, bytes?: ArrayBuffer][] = [
    ['an operation that does not exist', 'crypto.getPublicKey', []],
    ['a method of Object', 'crypto.constructor', []],
    ['arguments that are not a list', 'crypto.digest', { length: 2 }],
    ['no arguments', 'crypto.digest', undefined],
    ['too few arguments', 'crypto.digest', [sha256]],
    ['an algorithm as a text', 'crypto.digest', ['SHA-256', range(0, 1)], bytesOf(1)],
    ['a range beyond the bytes', 'crypto.digest', [sha256, range(0, 9)], bytesOf(8)],
    ['a negative range', 'crypto.digest', [sha256, range(-1, 2)], bytesOf(8)],
    ['a range of texts', 'crypto.digest', [sha256, { $bytes: ['0', '1'] }], bytesOf(8)],
    ['no range in place of bytes', 'crypto.digest', [sha256, 'text']],
    ['a key that was never made', 'crypto.exportKey', ['raw', { $key: 1 }]],
    ['a key by name', 'crypto.exportKey', ['raw', { $key: '__proto__' }]],
    ['a plain object as a key', 'crypto.exportKey', ['raw', { type: 'secret' }]],
    ['a format that Web Crypto lacks', 'crypto.exportKey', ['raw-seed', { $key: 1 }]],
    ['an unknown member', 'crypto.digest', [{ ...sha256, toString: 'x' }, range(0, 1)], bytesOf(1)],
    ['an own __proto__', 'crypto.digest', [ownProto, range(0, 1)], bytesOf(1)],
    ['deep nesting', 'crypto.digest', [deep, range(0, 0)]],
    [
      'a long list',
      'crypto.importKey',
      ['raw', range(0, 1), hmac, true, Array(1000).fill('sign')],
      bytesOf(1),
    ],
    ['a list of objects', 'crypto.importKey', ['raw', range(0, 1), hmac, true, [{}]], bytesOf(1)],
    ['two gigabits to derive', 'crypto.deriveBits', [pbkdf2, { $key: 1 }, 2 ** 31], bytesOf(1)],
    [
      'Argon2, as its caller chooses its memory',
      'crypto.importKey',
      ['raw', range(0, 1), { name: 'Argon2id' }, false, ['deriveBits']],
      bytesOf(1),
    ],
    [
      'a hash that Web Crypto lacks',
      'crypto.digest',
      [{ name: 'cSHAKE128', length: 1 }, range(0, 1)],
      bytesOf(1),
    ],
  ]
  for (const [name, operation, args, bytes] of hostile) {
    test(`refuses ${name}, and shows nothing of the process`, async () => {
      const error = errorOf(await call(operation, args, bytes))
      assert.match(error.name, /Error$/)
      assert.doesNotMatch(error.message, /node:|\/|\\/)
    })
  }

  test('keeps the last used keys, and names the reason for a dropped one', async () => {
    const used = await importHmac(call)
    const unused = await importHmac(call)
    for (let i = 0; i < 4200; i++) {
      await importHmac(call)
      if (i % 500 === 0) await sign(call, used)
    }
    assert.equal((await sign(call, used)).ok, true)
    const error = errorOf(await sign(call, unused))
    assert.equal(error.name, 'InvalidAccessError')
    assert.match(error.message, /keeps the 4096 keys that were used last/)
  })

  test('limits the size of a key, and the size of all keys', async () => {
    const large = await importHmac(call, 65_536)
    for (let i = 0; i < 250; i++) await importHmac(call, 65_536)
    assert.equal(errorOf(await sign(call, large)).name, 'InvalidAccessError')
    const tooLarge = ['raw', range(0, 65_537), hmac, false, ['sign']]
    const error = errorOf(await call('crypto.importKey', tooLarge, bytesOf(65_537)))
    assert.deepEqual(error, { name: 'OperationError', message: 'A key has at most 65536 bytes in a sandbox' })
    const webKey = ['jwk', { kty: 'oct', k: 'A'.repeat(70_000) }, hmac, false, ['sign']]
    assert.equal(errorOf(await call('crypto.importKey', webKey)).name, 'OperationError')
  })

  test('knows no key of another sandbox, and no released key', async () => {
    const [one, other] = [createCaller(), createCaller()]
    const id = await importHmac(one.call)
    assert.equal(errorOf(await sign(other.call, id)).name, 'InvalidAccessError')
    assert.equal((await sign(one.call, id)).ok, true)
    await one.call('crypto.release', [id, 99, 'x', null])
    assert.equal(errorOf(await sign(one.call, id)).name, 'InvalidAccessError')
  })

  test('limits work that cannot be stopped: RSA key sizes, PBKDF2 rounds, derived bits', async () => {
    const base = ['raw', range(0, 1), { name: 'PBKDF2' }, false, ['deriveBits']]
    const $key = idOf(await call('crypto.importKey', base, bytesOf(1)))
    const derive = (iterations: number, bits: number) =>
      call(
        'crypto.deriveBits',
        [{ name: 'PBKDF2', hash: sha256, salt: range(0, 1), iterations }, { $key }, bits],
        bytesOf(1),
      )
    const generate = (more: object, bytes = f4) =>
      call('crypto.generateKey', [{ ...rsa, ...more }, true, ['sign']], bytes)
    const startedMs = performance.now()
    const refused = [
      await generate({ modulusLength: 8192 }),
      await generate({ modulusLength: 2 ** 32 - 1 }),
      // 3·5·7·11·13·17: for most primes p, p - 1 has a factor in common with it.
      await generate({}, new Uint8Array([3, 229, 23]).buffer),
      await derive(1e9, 256),
      await derive(50_000, 65_536),
      await derive(1, 65_544),
      await call('crypto.generateKey', [{ ...hmac, length: 1e9 }, true, ['sign']]),
    ]
    assert.ok(performance.now() - startedMs < 20_000)
    assert.deepEqual(
      refused.map((answer) => errorOf(answer).name),
      refused.map(() => 'OperationError'),
    )
    assert.match(errorOf(refused[4] as CryptoAnswer).message, /10000000 iterations.*256 blocks/)
    assert.equal((await derive(1000, 256)).ok, true)
  })

  test('limits the number and bytes of waiting calls', async () => {
    const { call } = createCaller()
    const count = async (length: number, size: number) => {
      const one = () => call('crypto.digest', [sha256, range(0, size)], bytesOf(size))
      const answers = await Promise.all(Array.from({ length }, one))
      return answers.filter(({ ok }) => ok).length
    }
    assert.equal(await count(2000, 1), 1024)
    assert.equal(await count(40, 1024 * 1024), 32)
    assert.equal(await count(100, 1), 100)
  })
})

describe('the CPU time of cryptography', () => {
  test('is charged to the dispatch if it is used in the main thread', async () => {
    const charged = new Map<number, number>()
    const charge = (dispatch: number, ms: number) => charged.set(dispatch, (charged.get(dispatch) ?? 0) + ms)
    const { call } = createCaller({ charge })
    const one = () => call('crypto.digest', [sha256, range(0, 65_536)], bytesOf(65_536), 7)
    for (let i = 0; i < 50; i++) await one()
    assert.deepEqual([...charged.keys()], [7])
    assert.ok((charged.get(7) ?? 0) > 0.5, `${charged.get(7)} ms`)
  })

  test('is refused to a dispatch that used up its share, and not to others', async () => {
    const { call } = createCaller({ threadMs: 1 })
    const generate = (dispatch: number) => call('crypto.generateKey', [rsa, true, ['sign']], f4, dispatch)
    assert.equal((await generate(1)).ok, true)
    const error = errorOf(await generate(1))
    assert.equal(error.name, 'OperationError')
    assert.match(error.message, /has used 1 ms of cryptography.*SANDBOX_CPU_MS/)
    assert.equal((await generate(2)).ok, true)
  })

  test('excludes time in which other scripts run or the machine is busy', async () => {
    const { call } = createCaller({ threadMs: 100 })
    const first = await importHmac(call)
    for (let i = 0; i < 10; i++) {
      const made = call('crypto.generateKey', [hmac, false, ['sign']])
      await new Promise((resolve) => setImmediate(resolve))
      const startedMs = performance.now()
      while (performance.now() - startedMs < 50) Math.sqrt(2)
      assert.equal(errorOf(await made).name, 'ok')
    }
    assert.equal((await sign(call, first)).ok, true)
  })

  test('is divided among simultaneous operations', () => {
    let usedMs = 0
    const clock = createThreadClock(() => usedMs)
    const stopFirst = clock.start()
    usedMs += 10
    const stopSecond = clock.start()
    usedMs += 6
    assert.equal(stopFirst(), 13)
    usedMs += 1
    assert.equal(stopSecond(), 4)
  })

  test('is not spent on waiting calls of an ended dispatch', async () => {
    const live = new Set([1, 2])
    const { call } = createCaller({ isLive: (dispatch) => live.has(dispatch) })
    const generate = (dispatch: number) => call('crypto.generateKey', [rsa, true, ['sign']], f4, dispatch)
    let answered = 0
    for (let i = 0; i < 500; i++) void generate(1).then(() => (answered += 1))
    await new Promise((resolve) => setTimeout(resolve, 20))
    live.delete(1)
    const answeredInTime = answered
    const startedMs = performance.now()
    assert.equal((await generate(2)).ok, true)
    assert.ok(performance.now() - startedMs < 20_000)
    assert.equal(answered, answeredInTime)
  })

  test('is not spent on calls of a closed sandbox', async () => {
    const { call, close } = createCaller()
    let answered = 0
    for (let i = 0; i < 20; i++) {
      void call('crypto.digest', [sha256, range(0, 1)], bytesOf(1)).then(() => (answered += 1))
    }
    close()
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(answered, 0)
  })
})

describe('turns of many sandboxes in few threads:', () => {
  test('a sandbox with a thousand waiting jobs delays another by one job', () => {
    const turns = createTurns({ atOnce: 2, perLane: 2 })
    const [greedy, modest] = [turns.createLane(), turns.createLane()]
    const order: string[] = []
    const running: (() => void)[] = []
    const job = (name: string) => (done: () => void) => {
      order.push(name)
      running.push(done)
    }
    for (let i = 0; i < 1000; i++) greedy.add(job('greedy'))
    modest.add(job('modest'))
    assert.deepEqual(order, ['greedy', 'greedy'])
    running[0]?.()
    running[1]?.()
    assert.equal(order.slice(2).includes('modest'), true)
  })

  test('a sandbox has at most its share of running jobs', () => {
    const turns = createTurns({ atOnce: 2, perLane: 1 })
    const [greedy, modest] = [turns.createLane(), turns.createLane()]
    let greedyRunning = 0
    for (let i = 0; i < 10; i++) greedy.add(() => (greedyRunning += 1))
    assert.equal(greedyRunning, 1)
    let began = false
    modest.add(() => (began = true))
    assert.equal(began, true)
  })
})
