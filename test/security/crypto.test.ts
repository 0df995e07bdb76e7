// tier: wall (attacks that compute until a limit ends them)

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Json, startAnnex } from '../support/annex.ts'

/** Each attack is a path; what it returns is what the attacker saw. A neighbour in the same process signs meanwhile. */
const attacker = `
import { createIntegration } from '@annex/runtime'
const { subtle } = crypto
const f4 = new Uint8Array([1, 0, 1])
const rsa = (modulusLength, publicExponent = f4) =>
  subtle.generateKey({ name: 'RSA-PSS', hash: 'SHA-256', modulusLength, publicExponent }, true, ['sign'])
const secret = (bytes) => subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, true, ['sign'])
const derive = async (iterations, bits) => {
  const base = await subtle.importKey('raw', f4, 'PBKDF2', false, ['deriveBits'])
  return subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt: f4, iterations }, base, bits)
}
const outcome = (promise) => promise.then(() => 'done', (error) => error.name + ': ' + error.message + ' ' + error.stack)

const attacks = {
  'rsa-16384': () => outcome(rsa(16384)),
  'rsa-of-small-primes': () => outcome(rsa(4096, new Uint8Array([3, 229, 23]))),
  'pbkdf2-for-an-hour': () => outcome(derive(1e9, 512)),
  'pbkdf2-in-many-blocks': () => outcome(derive(1e6, 65536)),
  'argon2': () => outcome(subtle.importKey('raw', f4, 'Argon2id', false, ['deriveBits'])),
  'rsa-keys-without-end': () => outcome((async () => { for (;;) await Promise.all(Array.from({ length: 50 }, () => rsa(4096))) })()),
  'pbkdf2-without-end': () => outcome((async () => { for (;;) await Promise.all(Array.from({ length: 50 }, () => derive(1e6, 512))) })()),
  'left-running': () => { for (let i = 0; i < 500; i++) outcome(rsa(4096)); return 'answered' },
  'digests-without-end': async () => { for (;;) await Promise.all(Array.from({ length: 1000 }, () => subtle.digest('SHA-512', new Uint8Array(60000)).catch(() => {}))) },
  'keys-without-end': () => outcome((async () => { const keys = []; for (let i = 0; i < 8000; i++) keys.push(await secret(new Uint8Array(60000))); return subtle.exportKey('raw', keys[0]) })()),
  'a-key-by-number': () => {
    // The id of a key is in a private field: a script can at best make an object that resembles a key.
    const value = (value) => ({ value })
    const fake = Object.create(CryptoKey.prototype, { id: value(1), $key: value(1), type: value('secret') })
    return outcome(subtle.sign('HMAC', fake, f4))
  },
  'patched-built-ins': async () => {
    const seen = []
    for (let i = 0; i < 8; i++) Object.defineProperty(Array.prototype, i, { configurable: true, get: () => '"}}, "x', set: (value) => seen.push(typeof value) })
    Object.prototype.toJSON = () => undefined
    try {
      return outcome(subtle.digest({ name: 'SHA-256' }, f4))
    } finally {
      for (let i = 0; i < 8; i++) delete Array.prototype[i]
      delete Object.prototype.toJSON
    }
  },
  'errors': async () => {
    const key = await secret(f4)
    const pem = new TextEncoder().encode('-----BEGIN PRIVATE KEY-----')
    const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' }
    return (await Promise.all([
      subtle.importKey('pkcs8', pem, ecdsa, true, ['sign']),
      subtle.importKey('spki', pem, { name: 'RSA-PSS', hash: 'SHA-1' }, true, ['verify']),
      subtle.importKey('jwk', { kty: 'EC', crv: 'P-256', x: '/etc/passwd', y: '..' }, ecdsa, true, ['verify']),
      subtle.sign('HMAC', key, null),
      subtle.sign({ name: 'RSA-PSS', saltLength: 9e9 }, key, f4),
      subtle.exportKey('pkcs8', key),
      subtle.wrapKey('jwk', key, key, 'AES-KW'),
      subtle.unwrapKey('jwk', f4, key, 'AES-KW', 'HMAC', true, ['sign']),
    ].map(outcome))).join('\\n')
  },
}
export default createIntegration({
  fetch: async (request) => new Response(String(await attacks[new URL(request.url).pathname.split('/').at(-1)]())),
})`

const signer = `
import { createIntegration } from '@annex/runtime'
const key = crypto.subtle.importKey('raw', new Uint8Array(32), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
export default createIntegration({
  fetch: async (request) => {
    const body = new TextEncoder().encode('the body of a webhook')
    const signature = await crypto.subtle.sign('HMAC', await key, body)
    const gcm = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt'])
    await crypto.subtle.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, gcm, body)
    return new Response(String(await crypto.subtle.verify('HMAC', await key, signature, body)))
  },
})`

let annex: Annex
before(async () => {
  annex = await startAnnex({
    sandboxes: 'processes',
    plugins: { attacker: { script: attacker }, signer: { script: signer } },
    flags: {
      SANDBOX_SPARE: 'true',
      SANDBOX_CPU_MS: '300',
      SANDBOX_WALL_MS: '8000',
      SANDBOX_RESIDENT_MB: '512',
      SANDBOX_HEAP_MB: '64',
    },
  })
  await (await fetch(`${annex.url}/x/signer`)).text()
})
after(() => annex.close())

type Attacked = { status: number; text: string; tookMs: number; slowestMs: number }

/** What the attacker got, and how long its neighbour waited at most for a signature and a sealed text. */
async function attack(name: string): Promise<Attacked> {
  const startedMs = performance.now()
  let over = false
  const attacked = fetch(`${annex.url}/x/attacker/${name}`).then(async (response) => {
    const text = await response.text()
    over = true
    return { status: response.status, text, tookMs: performance.now() - startedMs }
  })
  let slowestMs = 0
  while (!over) {
    const askedMs = performance.now()
    const response = await fetch(`${annex.url}/x/signer`)
    assert.equal(await response.text(), 'true')
    slowestMs = Math.max(slowestMs, performance.now() - askedMs)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  return { ...(await attacked), slowestMs }
}

describe('cryptography that takes too long is refused before it begins', () => {
  const refused: [name: string, said: RegExp][] = [
    ['rsa-16384', /^OperationError: "modulusLength" is at most 4096/],
    ['rsa-of-small-primes', /^OperationError: "publicExponent" is 3 or 65537/],
    ['pbkdf2-for-an-hour', /^OperationError: PBKDF2 makes at most 10000000 iterations/],
    ['pbkdf2-in-many-blocks', /^OperationError: PBKDF2 makes at most .* 128 blocks of output/],
    ['argon2', /^NotSupportedError/],
  ]
  for (const [name, said] of refused) {
    it(name, async () => {
      const { status, text, tookMs } = await attack(name)
      assert.equal(status, 200)
      assert.match(text, said)
      assert.ok(tookMs < 20_000, `${tookMs} ms`)
    })
  }
})

describe('endless cryptography ends, and signatures of a neighbour do not wait for it', () => {
  const slow: [name: string, said: RegExp][] = [
    ['rsa-keys-without-end', /^OperationError: This dispatch has used 3000 ms of cryptography/],
    ['pbkdf2-without-end', /^OperationError: This dispatch has used 3000 ms of cryptography/],
  ]
  for (const [name, said] of slow) {
    it(`${name}: runs in threads, within ten times the CPU time of a dispatch`, async () => {
      const { status, text, slowestMs } = await attack(name)
      assert.match(text, status === 200 ? said : /wall_clock_limit|machine_busy/)
      assert.ok(slowestMs < 20_000, `the neighbour waited ${slowestMs} ms`)
    })
  }

  it('left-running: calls that wait when the answer is given never begin', async () => {
    const { text } = await attack('left-running')
    assert.equal(text, 'answered')
    const { tookMs, slowestMs } = await attack('errors')
    assert.ok(tookMs < 20_000 && slowestMs < 20_000, `${tookMs} ms, the neighbour ${slowestMs} ms`)
  })

  it('digests-without-end: counts as CPU time of the dispatch', async () => {
    const { status, text, slowestMs } = await attack('digests-without-end')
    const { code } = (JSON.parse(text) as Json).error
    assert.match(code, /^(cpu_limit|machine_busy|wall_clock_limit)$/)
    assert.equal(status, code === 'wall_clock_limit' ? 504 : 503)
    assert.ok(slowestMs < 20_000, `the neighbour waited ${slowestMs} ms`)
  })

  it('keys-without-end: drops the oldest keys, and so bounds the memory outside the heap', async () => {
    const before = residentMb()
    const { status, text } = await attack('keys-without-end')
    if (status === 200) assert.match(text, /^InvalidAccessError: This CryptoKey is gone/)
    else assert.match(text, /cpu_limit|memory_limit|wall_clock_limit|machine_busy/)
    // 480 MB were given; what is kept is 16 MB, and what the sandbox's own heap and its buffers grew by.
    assert.ok(residentMb() - before < 300, `from ${before} MB to ${residentMb()} MB`)
  })
})

describe('cryptography inside a sandbox', () => {
  it('refuses the number of a key in place of the key', async () => {
    assert.match((await attack('a-key-by-number')).text, /^TypeError/)
  })

  it('keeps its process when a script patches built-ins', async () => {
    const process = annex.server.sandboxes.processes()[0]?.pid
    const { text } = await attack('patched-built-ins')
    assert.match(text, /^done|Error/)
    assert.equal(annex.server.sandboxes.processes()[0]?.pid, process)
  })

  it('shows errors by their Web Crypto names, without paths of the host', async () => {
    const { text } = await attack('errors')
    const lines = text.split('\n').filter((line) => /^\w*Error: /.test(line))
    assert.equal(lines.length, 8, text)
    assert.doesNotMatch(text, /node:|node_modules|runtime\/process|OpenSSL|0x/)
  })
})

function residentMb(): number {
  const pids = annex.server.sandboxes.processes().map(({ pid }) => pid)
  const pages = pids.map((pid) => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]))
  return (Math.max(...pages) * 4096) / 1024 / 1024
}
