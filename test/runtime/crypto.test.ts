import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { createPlatform, run } from './guest.ts'

const platform = await createPlatform()
const inGuest = (body: string) => run(platform, 'snapshot', `${prepared}\n${body}`)
const prepared = `const text = (s) => new TextEncoder().encode(s)
  const hex = (b) => [...new Uint8Array(b)].map((n) => n.toString(16).padStart(2, '0')).join('')
  const name = async (f) => { try { await f(); return 'ok' } catch (e) { return e.name } }`

describe('Web Crypto in a guest:', () => {
  test('SHA-256 matches its test vector', async () => {
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

  test('a clone of a key is the same key with the same limits, inside any value', async () => {
    const seen = await inGuest(`
      const key = await crypto.subtle.importKey('raw', text('secret'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
      key.algorithm.name = 'AES-GCM'
      key.usages.push('decrypt')
      const { one, two, map } = structuredClone({ one: key, two: key, map: new Map([[key, 1]]) })
      const again = structuredClone(one)
      const { port1, port2 } = new MessageChannel()
      const posted = await new Promise((resolve) => { port2.onmessage = ({ data }) => resolve(data); port1.postMessage([key]) })
      port1.close()
      const sign = async (by) => hex(await crypto.subtle.sign('HMAC', by, text('body')))
      const expected = await sign(key)
      const same = await Promise.all([one, again, posted[0]].map(async (by) => (await sign(by)) === expected))
      return [one !== key, one === two, map.has(one), one instanceof CryptoKey, one.type, one.extractable, one.algorithm, one.usages, same,
        await name(() => crypto.subtle.exportKey('raw', one)), await name(() => crypto.subtle.verify('HMAC', one, text(''), text('')))]`)
    assert.deepEqual(seen, [
      ...[true, true, true, true, 'secret', false],
      ...[{ hash: { name: 'SHA-256' }, length: 48, name: 'HMAC' }, ['sign'], [true, true, true]],
      ...['InvalidAccessError', 'InvalidAccessError'],
    ])
  })

  test('clones of a key pair have their own exponent, and a fake key cannot be cloned', async () => {
    const seen = await inGuest(`
      const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }
      const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
      const copy = structuredClone(pair)
      copy.publicKey.algorithm.publicExponent[0] = 9
      const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', copy.privateKey, text('x'))
      const fake = Object.create(CryptoKey.prototype)
      return [await crypto.subtle.verify('RSASSA-PKCS1-v1_5', pair.publicKey, signature, text('x')), [...pair.publicKey.algorithm.publicExponent],
        [...structuredClone(copy.publicKey).algorithm.publicExponent], copy.privateKey.extractable,
        await name(() => structuredClone(fake)), await name(() => structuredClone(new Proxy(pair.publicKey, {}))),
        await name(() => structuredClone(0, { transfer: [pair.publicKey] }))]`)
    assert.deepEqual(seen, [
      ...[true, [1, 0, 1], [1, 0, 1], true],
      ...['DataCloneError', 'DataCloneError', 'DataCloneError'],
    ])
  })

  test('a clone keeps its key alive when the original is gone', async () => {
    const seen = await inGuest(`
      const make = () => crypto.subtle.importKey('raw', text('secret'), { name: 'HMAC', hash: 'SHA-256' }, true, ['sign'])
      const kept = structuredClone(await make())
      for (let i = 0; i < 400; i++) { await make(); if (i % 50 === 0) new Array(1e6).fill(i) }
      return new TextDecoder().decode(await crypto.subtle.exportKey('raw', kept))`)
    assert.equal(seen, 'secret')
  })

  test('AES-GCM and AES-CBC decrypt their own text, and refuse a changed one', async () => {
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

  test('random values and UUIDs have their form, and wrong arrays are refused', async () => {
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

describe('the interfaces of Web Crypto in a guest:', () => {
  test('an algorithm is read once, in the order of Web IDL, with its name in any case', async () => {
    const out = await inGuest(`
      const read = []
      const spy = (members) => new Proxy(members, { get: (on, member) => { read.push(member); return on[member] } })
      const key = await crypto.subtle.importKey('raw', text('secret'), spy({ name: 'hmac', hash: 'sha-256', length: undefined, kty: 1 }), false, ['sign', 'sign'])
      read.push('|')
      await crypto.subtle.importKey('raw', text('p'), 'pbkdf2', false, ['deriveBits']).then((base) =>
        crypto.subtle.deriveBits(spy({ name: 'PBKDF2', salt: text('s'), iterations: '1', hash: spy({ name: 'sHA-1' }) }), base, 8))
      return [read.join(' '), key.algorithm.name, key.algorithm.hash.name, key.usages]`)
    assert.deepEqual(out, ['name hash length | name hash name iterations salt', 'HMAC', 'SHA-256', ['sign']])
  })

  test('the first mistake determines the error', async () => {
    const out = await inGuest(`
      const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, true, ['encrypt'])
      const s = crypto.subtle
      return [
        await name(() => s.encrypt({ name: 'nothing' }, {}, text('x'))),
        await name(() => s.encrypt({ name: 'nothing' }, key, text('x'))),
        await name(() => s.encrypt({ name: 'AES-GCM' }, key, text('x'))),
        await name(() => s.encrypt({ name: 'AES-CBC', iv: new Uint8Array(16) }, key, text('x'))),
        await name(() => s.decrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, key, text('x'))),
        await name(() => s.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12), tagLength: 256 }, key, text('x'))),
        await name(() => s.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12), tagLength: 33 }, key, text('x'))),
        await name(() => s.generateKey({ name: 'AES-GCM', length: 127 }, true, ['encrypt'])),
        await name(() => s.generateKey({ name: 'AES-GCM', length: 128 }, true, [])),
        await name(() => s.generateKey({ name: 'AES-GCM', length: 128 }, true, ['fly'])),
        await name(() => s.importKey('text', text('x'), 'HMAC', true, ['sign'])),
        await name(() => s.importKey('jwk', { kty: 'oct' }, { name: 'AES-GCM' }, true, ['encrypt'])),
        await name(() => s.importKey('raw', text('x'), { name: 'HMAC', hash: 'MD5' }, true, ['sign'])),
        await name(() => s.wrapKey('raw', key, key)),
        await name(() => s.sign.call({}, 'HMAC', key, text('x'))),
      ]`)
    assert.deepEqual(out, [
      'TypeError',
      'NotSupportedError',
      'TypeError',
      'InvalidAccessError',
      'InvalidAccessError',
      'TypeError',
      'OperationError',
      'OperationError',
      'SyntaxError',
      'TypeError',
      'TypeError',
      'DataError',
      'NotSupportedError',
      'TypeError',
      'TypeError',
    ])
  })

  test('bytes are copied when the method is called', async () => {
    const out = await inGuest(`
      const data = text('abc')
      const digest = crypto.subtle.digest('SHA-256', data)
      data.fill(0)
      return hex(await digest)`)
    assert.equal(out, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })

  test('a key’s attributes stay the same objects, and changes to them have no effect', async () => {
    const out = await inGuest(`
      const key = await crypto.subtle.importKey('raw', text('secret'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
      const same = [key.algorithm === key.algorithm, key.usages === key.usages, Array.isArray(key.usages)]
      key.usages.push('verify')
      key.algorithm.name = 'AES-GCM'
      return [...same, await name(() => crypto.subtle.verify('HMAC', key, text('x'), text('x'))), (await crypto.subtle.sign('HMAC', key, text('x'))).byteLength]`)
    assert.deepEqual(out, [true, true, true, 'InvalidAccessError', 32])
  })

  test('an error names the author’s line that awaits it', async () => {
    const out = (await inGuest(
      `try { await crypto.subtle.importKey('raw', text('x'), { name: 'AES-GCM' }, true, ['encrypt']) } catch (e) { return e.stack }`,
    )) as string
    assert.match(out, /^DataError: .*\n(.*annex:_platform.*\n)+.*at async .*annex:script:\d+:\d+/)
  })

  test('random values fill arrays of integers only', async () => {
    const out = await inGuest(`
      const arrays = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array]
      class Named extends Uint8Array { get [Symbol.toStringTag]() { return 'Float64Array' } }
      return [
        arrays.every((A) => { const a = new A(16); return crypto.getRandomValues(a) === a && a.some((n) => n != 0) }),
        crypto.getRandomValues(new Named(8)).some((n) => n > 0),
        await name(() => crypto.getRandomValues(new Float64Array(1))),
        await name(() => crypto.getRandomValues(new DataView(new ArrayBuffer(1)))),
        await name(() => crypto.getRandomValues([1])),
        await name(() => crypto.getRandomValues(new Uint16Array(32769))),
        crypto.getRandomValues(new Uint8Array(65536)).length]`)
    assert.deepEqual(out, [
      true,
      true,
      'TypeMismatchError',
      'TypeMismatchError',
      'TypeError',
      'QuotaExceededError',
      65536,
    ])
  })
})
