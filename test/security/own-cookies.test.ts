import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, startAnnex } from '../support/annex.ts'

/** Shows all that it gets of a visitor, and sets each cookie that its query has. */
const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request) => {
    const { searchParams } = new URL(request.url)
    const answer = Response.json([...request.headers])
    for (const cookie of searchParams.getAll('set')) answer.headers.append('set-cookie', cookie)
    console.log(JSON.stringify([...request.headers]))
    return answer
  },
  fetch_visitor_authentication: async (event) => {
    const answer = Response.json(event)
    answer.headers.append('set-cookie', '__Host-annex_session=x; Path=/; Secure')
    answer.headers.append('set-cookie', 'annex_session_8080=x; Path=/')
    return answer
  },
})`

/** Names under which a cookie of Annex is sent, or was, or may be: with the prefixes that browsers know, and unknown ones. */
const ownNames = [
  ...['annex_session', 'annex_session_8080', 'annex-flow_1', 'ANNEX_SESSION', 'Annex-x', 'annex_', 'annex-'],
  ...['__Host-annex_session', '__Host-annex_session_8080', '__host-annex_session', '__HOST-ANNEX_SESSION'],
  ...[
    '__Secure-annex_session',
    '__Http-annex_session',
    '__Host-Http-annex_session',
    '__host-http-annex_session',
  ],
  ...['annex-openid_0123456789abcdef', '__Host-annex-openid_0123456789abcdef'],
  ...['__Host-annex-flow_1', '__Secure-ANNEX-x', '__New-annex_session', '__Host-Secure-annex_session'],
]

/** Header lines of a visitor, and what a script may see of the cookies in them. */
const sent: [name: string, lines: string, seen: string[]][] = [
  ...ownNames.map((own): [string, string, string[]] => [
    own,
    `Cookie: a=1; ${own}=SECRET; b=2`,
    ['a=1; b=2'],
  ]),
  ['it first', 'Cookie: __Host-annex_session=SECRET; a=1', ['a=1']],
  ['it last', 'Cookie: a=1; __Host-annex_session=SECRET', ['a=1']],
  ['it alone', 'Cookie: __Host-annex_session=SECRET', []],
  ['it twice', 'Cookie: __Host-annex_session=SECRET; __Host-annex_session=SECRET', []],
  ['no space between cookies', 'Cookie: a=1;__Host-annex_session=SECRET;b=2', ['a=1; b=2']],
  ['spaces and tabs', 'Cookie: a=1 ;\t \t__Host-annex_session\t =\tSECRET\t; b=2', ['a=1; b=2']],
  ['empty pairs', 'Cookie: ;; __Host-annex_session=SECRET;; ;a=1;', ['a=1']],
  ['no name', 'Cookie: =__Host-annex_session=SECRET; = =annex_session=SECRET; a=1', ['a=1']],
  ['no value', 'Cookie: __Host-annex_session; annex_session; a=1', ['a=1']],
  ['quotes', 'Cookie: __Host-annex_session="SECRET"; "__Host-annex_session"=SECRET; a=1', ['a=1']],
  ['an open quote before it', 'Cookie: a="1; __Host-annex_session=SECRET; b=2"', ['a="1; b=2"']],
  ['commas', 'Cookie: a=1, __Host-annex_session=SECRET; b=2,annex_session=SECRET; c=3', ['c=3']],
  ['several headers', 'Cookie: a=1\r\nCookie: __Host-annex_session=SECRET\r\nCookie: b=2', ['a=1, b=2']],
  ['a header in capitals', 'COOKIE: __Host-annex_session=SECRET; a=1', ['a=1']],
  ['a header in mixed case', 'cOoKiE: __Host-annex_session=SECRET; a=1', ['a=1']],
  ['a byte that is no space', 'Cookie: \xa0__Host-annex_session=SECRET; a=1', ['a=1']],
  ['a trailer', 'Trailer: Cookie\r\nCookie: a=1', ['a=1']],
  [
    'names that only begin alike',
    'Cookie: annexe=1; my-annex_x=2; x__Host-annex_y=3',
    ['annexe=1; my-annex_x=2; x__Host-annex_y=3'],
  ],
  [
    'a cookie of its own with such a value',
    'Cookie: a=annex_session; b=__Host-annex_session',
    ['a=annex_session; b=__Host-annex_session'],
  ],
]

describe('the cookies of Annex', () => {
  let annex: Annex
  let site: { path: string; endpoint: string }
  before(async () => {
    annex = await startAnnex({ plugins: { echo: { script, scopes: ['site:visitor:auth'] } } })
    site = await installSample(annex, 'echo', 'site')
  })
  after(() => annex.close())

  /** Sends the lines as they are: `fetch` would change them. */
  async function ask(path: string, lines: string, method = 'GET', body = ''): Promise<string> {
    const socket = connect(Number(new URL(annex.url).port), '127.0.0.1').setEncoding('latin1')
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n${lines}\r\n\r\n${body}`,
      'latin1',
    )
    let text = ''
    for await (const chunk of socket) text += chunk
    return text
  }

  const cookiesIn = (answer: string): string[] => {
    const headers: [string, string][] = JSON.parse(
      answer.slice(answer.indexOf('[[')).replace(/\]\][\s\S]*$/, ']]'),
    )
    return headers.filter(([name]) => name === 'cookie').map(([, value]) => value)
  }

  describe('reach no script', () => {
    for (const [name, lines, seen] of sent) {
      it(`at an endpoint: ${name}`, async () => {
        const answer = await ask('/x/echo', lines)
        assert.match(answer, /^HTTP\/1\.1 200 /)
        assert.doesNotMatch(answer, /SECRET/)
        assert.deepEqual(cookiesIn(answer).join('; '), seen.join('; '))
      })
    }

    it('at the sign-in of a site, in none of these forms', async () => {
      for (const [name, lines] of sent) {
        const answer = await ask(`${site.path}/visitor-auth`, lines)
        assert.match(answer, /^HTTP\/1\.1 200 /)
        assert.match(answer, /fetch_visitor_authentication/)
        assert.doesNotMatch(answer, /SECRET/, name)
      }
    })

    it('at the endpoint of a site, with a body, or by another method', async () => {
      const cookie = 'Cookie: a=1; __Host-annex_session=SECRET'
      const path = new URL(site.endpoint).pathname
      for (const method of ['GET', 'POST', 'TRACE', 'OPTIONS', 'PROPFIND']) {
        const answer = await ask(path, `${cookie}\r\nContent-Length: 2`, method, 'hi')
        assert.deepEqual(cookiesIn(answer), ['a=1'], method)
        assert.doesNotMatch(answer, /SECRET/)
      }
      const trailed = await ask(
        path,
        `${cookie}\r\nTransfer-Encoding: chunked`,
        'POST',
        '2\r\nhi\r\n0\r\nCookie: __Host-annex_session=SECRET\r\n\r\n',
      )
      assert.deepEqual(cookiesIn(trailed), ['a=1'])
      assert.doesNotMatch(trailed, /SECRET/)
    })

    it('with a request to become a WebSocket, which stays HTTP', async () => {
      const answer = await ask('/x/echo', 'Upgrade: websocket\r\nCookie: __Host-annex_session=SECRET; a=1')
      assert.match(answer, /^HTTP\/1\.1 200 /)
      assert.deepEqual(cookiesIn(answer), ['a=1'])
    })

    it('by a log, a receipt or an error', async () => {
      for (const path of [
        '/x/nothing',
        '/x/echo/../echo',
        '/nowhere',
        '/v1/installations',
        `${site.path}/visitor-auth?location=//a`,
      ]) {
        const answer = await ask(path, 'Cookie: __Host-annex_session=SECRET')
        assert.match(answer, /^HTTP\/1\.1 4\d\d /, path)
        assert.doesNotMatch(answer, /SECRET/, path)
      }
      const { text } = await annex.api('GET', '/v1/logs?integration=echo&limit=1000')
      assert.match(text, /a=1/)
      assert.doesNotMatch(text, /SECRET/)
      assert.doesNotMatch((await annex.api('GET', '/v1/receipts?integration=echo&limit=1000')).text, /SECRET/)
    })
  })

  describe('are set by no script', () => {
    const namesOf = (headers: Headers) => headers.getSetCookie().map((cookie) => cookie.split(/[=;]/)[0])
    const forms: [name: string, toCookie: (own: string) => string][] = [
      ['plain', (own) => `${own}=x`],
      ['without a name', (own) => `=${own}=x`],
      ['without a value', (own) => own],
      ['with spaces and tabs', (own) => ` \t = \t${own}\t =x; Path=/`],
      ['in quotes', (own) => `"${own}"=x`],
      [
        'with attributes that would widen it',
        (own) => `${own}=x; Secure; Path=/; Domain=127.0.0.1; path=/; Priority=High`,
      ],
    ]
    for (const [name, toCookie] of forms) {
      it(`${name}`, async () => {
        const query = new URLSearchParams(ownNames.map((own) => ['set', toCookie(own)]))
        const { headers } = await fetch(`${annex.url}/x/echo?${query}`)
        assert.deepEqual(
          namesOf(headers).filter((set) => !set?.startsWith('x-')),
          [],
        )
        assert.equal(headers.getSetCookie().length, ownNames.length)
        for (const cookie of headers.getSetCookie()) {
          assert.match(cookie, /; Path=\/x\/echo$/)
          assert.doesNotMatch(cookie, /Domain|Path=\/;|Priority/i)
        }
      })
    }

    it('at the sign-in of a site', async () => {
      const { headers } = await fetch(`${annex.url}${site.path}/visitor-auth`)
      assert.deepEqual(namesOf(headers), ['x-__Host-annex_session', 'x-annex_session_8080'])
    })
  })
})
