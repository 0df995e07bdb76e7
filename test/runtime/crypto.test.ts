import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { createCryptoCalls } from '../../runtime/process/crypto/crypto-calls.ts'
import { createPlatform, run } from './guest.ts'

const platform = await createPlatform()
const inGuest = (body: string) => run(platform, 'snapshot', `${prepared}\n${body}`)
const prepared = `const text = (s) => new TextEncoder().encode(s)
  const hex = (b) => [...new Uint8Array(b)].map((n) => n.toString(16).padStart(2, '0')).join('')
  const name = async (f) => { try { await f(); return 'ok' } catch (e) { return e.name } }`

describe('crypto in a guest', () => {
  test('digests', async () => {
    const digest = await inGuest(`return hex(await crypto.subtle.digest('SHA-256', text('abc')))`)
    assert.equal(digest, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })

  test('HMAC signs as Node does, and verifies', async () => {
    const expected = createHmac('sha256', 'secret').update('body').digest('hex')
    const [signature, right, wrong] = (await inGuest(`
      const key = await crypto.subtle.importKey('raw', text('secret'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
      const signature = await crypto.subtle.sign('HMAC', key, text('body'))
      return [hex(signature), await crypto.subtle.verify('HMAC', key, signature, text('body')), await crypto.subtle.verify('HMAC', key, signature, text('bodY'))]`)) as unknown[]
    assert.deepEqual([signature, right, wrong], [expected, true, false])
  })

  test('a key shows its type, algorithm and usages, and hides its bytes', async () => {
    const seen = await inGuest(`
      const key = await crypto.subtle.importKey('raw', text('secret'), { name: 'HMAC', hash: { name: 'SHA-1' } }, false, ['sign'])
      return [key instanceof CryptoKey, key.type, key.extractable, key.algorithm, key.usages, await name(() => crypto.subtle.exportKey('raw', key)), Object.keys(key)]`)
    assert.deepEqual(seen, [
      true,
      'secret',
      false,
      { hash: { name: 'SHA-1' }, length: 48, name: 'HMAC' },
      ['sign'],
      'InvalidAccessError',
      [],
    ])
  })

  test('AES-GCM and AES-CBC go there and back, and a changed text is refused', async () => {
    const out = await inGuest(`const out = []
      for (const [name_, size] of [['AES-GCM', 12], ['AES-CBC', 16]]) {
        const key = await crypto.subtle.generateKey({ name: name_, length: 256 }, true, ['encrypt', 'decrypt'])
        const algorithm = { name: name_, iv: crypto.getRandomValues(new Uint8Array(size)), ...(name_ === 'AES-GCM' && { additionalData: text('aad') }) }
        const sealed = await crypto.subtle.encrypt(algorithm, key, text('hello'))
        out.push(new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, sealed)), (await crypto.subtle.exportKey('raw', key)).byteLength)
        new Uint8Array(sealed)[0] ^= 1
        if (name_ === 'AES-GCM') out.push(await name(() => crypto.subtle.decrypt(algorithm, key, sealed)))
      }
      return out`)
    assert.deepEqual(out, ['hello', 32, 'OperationError', 'hello', 32])
  })

  test('RSA keys go through PKCS#8 and SPKI', async () => {
    const out = await inGuest(`
      const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }
      const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
      const [pkcs8, spki] = [await crypto.subtle.exportKey('pkcs8', pair.privateKey), await crypto.subtle.exportKey('spki', pair.publicKey)]
      const privateKey = await crypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign'])
      const publicKey = await crypto.subtle.importKey('spki', spki, algorithm, true, ['verify'])
      const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', privateKey, text('x'))
      return [await crypto.subtle.verify('RSASSA-PKCS1-v1_5', publicKey, signature, text('x')), privateKey.algorithm.modulusLength, [...privateKey.algorithm.publicExponent], privateKey.type]`)
    assert.deepEqual(out, [true, 2048, [1, 0, 1], 'private'])
  })

  test('ECDSA signs with a JSON Web Key', async () => {
    const out = await inGuest(`
      const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
      const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
      const jwk = await crypto.subtle.exportKey('jwk', pair.privateKey)
      const key = await crypto.subtle.importKey('jwk', jwk, algorithm, false, ['sign'])
      const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, text('x'))
      return [jwk.kty, jwk.crv, await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, pair.publicKey, signature, text('x'))]`)
    assert.deepEqual(out, ['EC', 'P-256', true])
  })

  test('keys are derived with HKDF, PBKDF2 and ECDH, and wrapped', async () => {
    const out = await inGuest(`
      const base = await crypto.subtle.importKey('raw', text('password'), 'PBKDF2', false, ['deriveBits', 'deriveKey'])
      const bits = await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: text('salt'), iterations: 1 }, base, 256)
      const aes = await crypto.subtle.deriveKey({ name: 'PBKDF2', hash: 'SHA-256', salt: text('salt'), iterations: 1 }, base, { name: 'AES-KW', length: 256 }, false, ['wrapKey', 'unwrapKey'])
      const inner = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256', length: 256 }, true, ['sign'])
      const wrapped = await crypto.subtle.wrapKey('raw', inner, aes, 'AES-KW')
      const back = await crypto.subtle.unwrapKey('raw', wrapped, aes, 'AES-KW', { name: 'HMAC', hash: 'SHA-256' }, true, ['sign'])
      const a = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, false, ['deriveBits'])
      const b = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, false, ['deriveBits'])
      const shared = [await crypto.subtle.deriveBits({ name: 'ECDH', public: b.publicKey }, a.privateKey, 256), await crypto.subtle.deriveBits({ name: 'ECDH', public: a.publicKey }, b.privateKey, 256)]
      return [hex(bits), hex(await crypto.subtle.exportKey('raw', back)) === hex(await crypto.subtle.exportKey('raw', inner)), hex(shared[0]) === hex(shared[1])]`)
    assert.deepEqual(out, ['120fb6cffcf8b32c43e7225256c4f837a86548c92ccc35480805987cb70be17b', true, true])
  })

  test('random values and UUIDs', async () => {
    const out =
      (await inGuest(`const a = crypto.getRandomValues(new Uint32Array(4)); return [crypto.randomUUID(), crypto.randomUUID(), a.some((n) => n > 0),
      await name(() => crypto.getRandomValues(new Uint8Array(65537))), await name(() => crypto.getRandomValues(new Float32Array(1)))]`)) as string[]
    assert.match(out[0] ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.notEqual(out[0], out[1])
    assert.deepEqual(out.slice(2), [true, 'QuotaExceededError', 'TypeMismatchError'])
  })

  test('wrong use rejects with the errors of Web Crypto', async () => {
    const out = await inGuest(`return [
      await name(() => crypto.subtle.digest('MD5', text('x'))),
      await name(() => crypto.subtle.digest('SHA-256', 'text')),
      await name(() => crypto.subtle.importKey('raw', text('x'), { name: 'AES-GCM' }, true, ['encrypt'])),
      await name(() => crypto.subtle.sign('HMAC', {}, text('x'))),
      await name(() => crypto.subtle.generateKey({ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 16384, publicExponent: new Uint8Array([1, 0, 1]) }, true, ['sign'])),
      await name(() => new CryptoKey())]`)
    assert.deepEqual(out, [
      'NotSupportedError',
      'TypeError',
      'DataError',
      'TypeError',
      'OperationError',
      'TypeError',
    ])
  })
})

describe('crypto calls in the process', () => {
  const hostile: [name: string, call: string, args: unknown, bytes?: ArrayBuffer][] = [
    ['an operation that does not exist', 'crypto.getPublicKey', []],
    ['a method of Object', 'crypto.constructor', []],
    ['arguments that are no list', 'crypto.digest', { length: 2 }],
    ['too few arguments', 'crypto.digest', ['SHA-256']],
    ['a range beyond the bytes', 'crypto.digest', ['SHA-256', { $bytes: [0, 9] }], new ArrayBuffer(8)],
    ['a negative range', 'crypto.digest', ['SHA-256', { $bytes: [-1, 2] }], new ArrayBuffer(8)],
    ['a range of texts', 'crypto.digest', ['SHA-256', { $bytes: ['0', '1'] }], new ArrayBuffer(8)],
    ['a key that was never made', 'crypto.exportKey', ['raw', { $key: 1 }]],
    ['a key by name', 'crypto.exportKey', ['raw', { $key: '__proto__' }]],
    [
      'an unknown member',
      'crypto.digest',
      [{ name: 'SHA-256', toString: 'x' }, { $bytes: [0, 1] }],
      new ArrayBuffer(1),
    ],
    [
      'an own __proto__',
      'crypto.digest',
      [JSON.parse('{"__proto__":{"name":"SHA-256"}}'), { $bytes: [0, 1] }],
      new ArrayBuffer(1),
    ],
    ['deep nesting', 'crypto.digest', [JSON.parse(`${'{"name":'.repeat(50)}1${'}'.repeat(50)}`), null]],
    ['a long list', 'crypto.importKey', ['raw', null, 'HMAC', true, Array(1000).fill('sign')]],
    ['two gigabits to derive', 'crypto.deriveBits', ['PBKDF2', null, 2 ** 31]],
  ]

  for (const [name, call, args, bytes] of hostile) {
    test(`refuses ${name}, and says nothing of the process`, async () => {
      await assert.rejects(createCryptoCalls()(call, args, bytes), (error: Error) => {
        assert.match(error.name, /Error$/)
        assert.doesNotMatch(error.message, /node:|\/|\\/)
        return true
      })
    })
  }

  test('keeps a bounded number of keys, the ones that were used last', async () => {
    const call = createCryptoCalls()
    const make = async () => {
      const args = ['raw', { $bytes: [0, 4] }, { name: 'HMAC', hash: 'SHA-1' }, false, ['sign']]
      return ((await call('crypto.importKey', args, new ArrayBuffer(4))).value as { id: number }).id
    }
    const sign = (id: number) =>
      call('crypto.sign', ['HMAC', { $key: id }, { $bytes: [0, 0] }], new ArrayBuffer(0))
    const [used, unused] = [await make(), await make()]
    for (let i = 0; i < 1000; i++) {
      await make()
      if (i % 100 === 0) await sign(used)
    }
    await sign(used)
    await assert.rejects(sign(unused), { name: 'InvalidAccessError' })
  })

  test('does a bounded number of operations at once', async () => {
    const call = createCryptoCalls()
    const digest = () => call('crypto.digest', ['SHA-256', { $bytes: [0, 1] }], new ArrayBuffer(1))
    const outcomes = await Promise.allSettled(Array.from({ length: 100 }, digest))
    const failed = outcomes.filter(({ status }) => status === 'rejected')
    assert.equal(failed.length, 84)
    assert.equal((await digest()).bytes?.byteLength, 32)
  })
})
