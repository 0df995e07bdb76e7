import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  createNote,
  keptRequests,
  type OutboundRequests,
  type StoredRequests,
  storedChars,
  toStoredText,
} from '../../host/egress/outbound-requests.ts'
import { createKnownSecrets } from '../../host/logs/known-secrets.ts'

const secret = 'T0k3n/with{odd}+characters=='
const host = 'Sk-Live.0123456789'

/** What a receipt stores of these URLs, for an owner with two secrets. */
function stored(urls: readonly string[], method = 'GET'): StoredRequests {
  const secrets = createKnownSecrets([])
  secrets.learn('inst_1', [
    ['KEY', secret],
    ['HOST', host],
    ['LONG', 'abc/defgh.'.repeat(150)],
  ])
  const requests: OutboundRequests = { kept: [], leftOut: 0 }
  for (const url of urls) {
    const note = createNote(requests, false)
    note.begin(method, url)
    note.answered(200)
  }
  const text = toStoredText(requests, (part, isCut) => secrets.redact('inst_1', part, isCut))
  assert.ok(text === null || !text.includes(secret))
  return JSON.parse(text ?? '{"requests":[],"leftOut":0}')
}

const shown = (url: string): string => {
  const [request] = stored([url]).requests
  return `${request?.host} ${request?.path}`
}

const jwt = `eyJ${'a'.repeat(40)}.eyJ${'b'.repeat(700)}.${'c'.repeat(43)}`

const cases: [what: string, url: string, shown: string][] = [
  ['a path as it is', 'https://api.example.com/v1/items', 'api.example.com /v1/items'],
  ['no query and no fragment', 'https://a.example/p?key=1234#frag', 'a.example /p'],
  ['no user name and no password', 'https://me:pass@a.example/p', 'a.example /p'],
  ['a port', 'http://a.example:8080/', 'a.example:8080 /'],
  ['an address of IPv6', 'http://[::1]:8080/x', '[::1]:8080 /x'],
  ['a name in another script', 'https://пример.example/ü', 'xn--e1afmkfd.example /%C3%BC'],
  ['no content of a data URL', `data:text/plain,${secret}`, 'data: '],
  ['no path of a file', 'file:///etc/passwd', 'file: '],
  ['a known secret', `https://a.example/bot${secret}/send`, 'a.example /bot[secret KEY]/send'],
  [
    'a secret that is escaped',
    `https://a.example/${encodeURIComponent(secret)}/send`,
    'a.example /[secret KEY]/send',
  ],
  ['a secret in a host', `https://${host}.evil.example/`, '[secret HOST].evil.example /'],
  [
    'a token with a known form',
    `https://a.example/${jwt.slice(0, 100)}.${'c'.repeat(43)}`,
    'a.example /[secret JSON Web Token]',
  ],
  ['no half of a token at the end', `https://a.example/x/${jwt}`, 'a.example /x/…'],
  [
    'no half of a secret at the end',
    `https://a.example/${'x'.repeat(440)}${secret.repeat(9)}`,
    `a.example /${'x'.repeat(199)}…`,
  ],
  [
    'no half of a long secret with slashes',
    `https://a.example/s/${'abc/defgh.'.repeat(150)}/end`,
    'a.example /s/[secret LONG]…',
  ],
]

describe('the outbound requests of a receipt', () => {
  for (const [what, url, expected] of cases) {
    it(`show ${what}`, () => assert.equal(shown(url), expected))
  }

  it('show 200 characters of a path of 16,000', () => {
    const [request] = stored([`https://a.example/${'x'.repeat(16_000)}`]).requests
    assert.equal(request?.path, '/…')
    const [deep] = stored([`https://a.example/${'dir/'.repeat(4_000)}`]).requests
    assert.equal(deep?.path.length, 201)
    assert.ok(deep?.path.endsWith('/dir…'), deep?.path)
  })

  const keys: [what: string, path: string, shown: string][] = [
    ['a token of a bot', '/bot123456:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/send', '/bot1…/send'],
    [
      'a key at the end',
      '/services/T00000000/B00000000/XXXX1234yyyyZZZZ5678wwww',
      '/services/T00000000/B00000000/XXXX…',
    ],
    ['an escaped key', '/x/ab%2BC1deFGhi2jkLMnop3qrST', '/x/ab%2…'],
    ['a word with an accent', '/caf%C3%A9-au-lait-a-paris', '/caf%C3%A9-au-lait-a-paris'],
    ['an id', '/inst_0190a1b2-0000-7000-8000-000000000000', '/inst_0190a1b2-0000-7000-8000-000000000000'],
    ['a commit', `/commits/${'0a1b2c3d'.repeat(5)}`, `/commits/${'0a1b2c3d'.repeat(5)}`],
    ['a time', '/2026-11-27T22:16:08.000Z', '/2026-11-27T22:16:08.000Z'],
    ['a short word', '/Version2Of3Words', '/Version2Of3Words'],
  ]
  for (const [what, path, expected] of keys) {
    it(`show no unknown key in a path: ${what}`, () => {
      assert.equal(shown(`https://a.example${path}`), `a.example ${expected}`)
    })
  }

  it('keep no long query in memory', () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage: () => void = runInNewContext('gc')
    const heap = () => {
      collectGarbage()
      return process.memoryUsage().heapUsed
    }
    const before = heap()
    const all = Array.from({ length: 2_000 }, (_, n) => {
      const requests: OutboundRequests = { kept: [], leftOut: 0 }
      const query = `${n}`.padStart(5, '0').repeat(3_200)
      createNote(requests, false).begin(
        'GET',
        `https://api.number-${n}.example/items/of/number/${n}?${query}`,
      )
      return requests
    })
    const bytes = heap() - before
    assert.ok(bytes < 8 * 1024 * 1024, `${bytes} bytes for ${all.length} requests`)
  })

  it('do not list a text that is no URL', () => {
    assert.deepEqual(stored(['', '/relative', 'http://']), { requests: [], leftOut: 0 })
  })

  it('are the first ones of 10,000, and the others are counted', () => {
    const { requests, leftOut } = stored(Array.from({ length: 10_000 }, (_, n) => `https://a.example/${n}`))
    assert.equal(requests.length, keptRequests)
    assert.equal(requests.at(-1)?.path, `/${keptRequests - 1}`)
    assert.equal(leftOut, 10_000 - keptRequests)
  })

  it('stay small for a hostile script', () => {
    const long = `https://${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.example/${'dir/'.repeat(4_000)}`
    const urls = Array.from({ length: 60 }, () => long)
    const { requests, leftOut } = stored(urls, '\0'.repeat(50))
    assert.ok(JSON.stringify(requests).length <= storedChars)
    assert.equal(requests.length + leftOut, 60)
  })

  it('are null for a dispatch without any', () => {
    const text = (part: string) => part
    assert.equal(toStoredText(undefined, text), null)
    assert.equal(toStoredText({ kept: [], leftOut: 0 }, text), null)
  })

  it('show a text that no database refuses for a method with U+0000 and half of a surrogate pair', () => {
    const requests: OutboundRequests = { kept: [], leftOut: 0 }
    createNote(requests, false).begin('a\0\ud800', 'https://a.example/')
    const text = toStoredText(requests, (part) => part) ?? ''
    assert.equal(text.includes('\0'), false)
    assert.ok(text.isWellFormed())
  })
})
