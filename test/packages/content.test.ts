import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Annex } from '../support/annex.ts'
import { startWithPackages } from './start-with-packages.ts'

const zod = `
import { createIntegration } from '@annex/runtime'
import { z } from 'zod'

const Settings = z.object({
  email: z.email(),
  site: z.url(),
  size: z.coerce.number().int().min(1).max(10).default(5),
  day: z.iso.date(),
  tags: z.array(z.string().trim().min(1)).nonempty(),
  kind: z.discriminatedUnion('type', [z.object({ type: z.literal('a'), n: z.bigint() }), z.object({ type: z.literal('b') })]),
}).strict()
export default createIntegration({
  fetch: async (request) => {
    const parsed = Settings.safeParse(await request.json())
    if (parsed.success) return Response.json({ ok: parsed.data, schema: z.toJSONSchema(z.object({ n: z.int() })) })
    return Response.json({ issues: parsed.error.issues.map(({ path, code }) => [path.join('.'), code]), pretty: z.prettifyError(parsed.error).split('\\n')[0] }, { status: 422 })
  },
})`

const dates = `
import { createIntegration } from '@annex/runtime'
import { add, differenceInBusinessDays, format, formatDistance, intervalToDuration, parse, parseISO } from 'date-fns'
import { de } from 'date-fns/locale/de'
export default createIntegration({
  fetch: async () => {
    const start = parseISO('2024-02-28T10:30:00Z')
    return Response.json([
      add(start, { days: 2, hours: 1 }).toISOString(),
      format(start, 'yyyy-MM-dd EEEE', { locale: de }),
      formatDistance(new Date(2024, 0, 1), new Date(2024, 6, 1), { addSuffix: true }),
      differenceInBusinessDays(new Date(2024, 1, 29), new Date(2024, 1, 22)),
      parse('3. März 2024', 'd. MMMM yyyy', new Date(0), { locale: de }).getMonth(),
      intervalToDuration({ start: new Date(2024, 0, 1), end: new Date(2025, 2, 4) }),
    ])
  },
})`

const markdown = `
import { createIntegration } from '@annex/runtime'
import { marked, Marked } from 'marked'
const linked = new Marked({ renderer: { heading: ({ depth, text }) => '<h' + depth + ' id="' + text.toLowerCase() + '">' + text + '</h' + depth + '>' }, async: true })
export default createIntegration({
  fetch: async (request) => {
    const text = await request.text()
    const html = request.url.endsWith('/linked') ? await linked.parse(text) : marked.parse(text, { gfm: true })
    return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } })
  },
})`

describe('packages for data and text in a sandbox', () => {
  let annex: Annex
  before(async () => {
    annex = await startWithPackages({
      zod: { script: zod, packages: ['zod'] },
      dates: { script: dates, packages: ['date-fns'] },
      markdown: { script: markdown, packages: ['marked'] },
    })
  })
  after(() => annex.close())
  const post = (path: string, body: string) => fetch(`${annex.url}/x/${path}`, { method: 'POST', body })

  it('zod checks and converts a value, and makes a JSON Schema', async () => {
    const good = {
      email: 'ada@example.com',
      site: 'https://example.com/ü',
      size: '7',
      day: '2024-02-29',
      tags: [' a '],
      kind: { type: 'b' },
    }
    const response = await post('zod', JSON.stringify(good))
    assert.deepEqual(await response.json(), {
      ok: { ...good, size: 7, tags: ['a'] },
      schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { n: { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 } },
        required: ['n'],
        additionalProperties: false,
      },
    })
    const bad = {
      email: 'ada',
      site: 'no url',
      size: 11,
      day: '2023-02-29',
      tags: [],
      kind: { type: 'c' },
      more: 1,
    }
    const refused = await post('zod', JSON.stringify(bad))
    assert.equal(refused.status, 422)
    assert.deepEqual(await refused.json(), {
      issues: [
        ['email', 'invalid_format'],
        ['site', 'invalid_format'],
        ['size', 'too_big'],
        ['day', 'invalid_format'],
        ['tags', 'too_small'],
        ['kind.type', 'invalid_union'],
        ['', 'unrecognized_keys'],
      ],
      pretty: '✖ Unrecognized key: "more"',
    })
  })

  it('date-fns calculates and formats dates, also in other languages', async () => {
    assert.deepEqual(await (await fetch(`${annex.url}/x/dates`)).json(), [
      '2024-03-01T11:30:00.000Z',
      '2024-02-28 Mittwoch',
      '6 months ago',
      5,
      2,
      { years: 1, months: 2, days: 3 },
    ])
  })

  it('marked renders HTML', async () => {
    const response = await post('markdown', '# Héllo\n\n- [x] *done*\n\n| a | b |\n|---|:-:|\n| 1 | `2` |\n')
    assert.match(response.headers.get('content-type') ?? '', /^text\/html/)
    assert.equal(
      await response.text(),
      '<h1>Héllo</h1>\n<ul>\n<li><input checked="" disabled="" type="checkbox"> <em>done</em></li>\n</ul>\n' +
        '<table>\n<thead>\n<tr>\n<th>a</th>\n<th align="center">b</th>\n</tr>\n</thead>\n' +
        '<tbody><tr>\n<td>1</td>\n<td align="center"><code>2</code></td>\n</tr>\n</tbody></table>\n',
    )
    assert.equal(await (await post('markdown/linked', '## Part')).text(), '<h2 id="part">Part</h2>')
  })
})
