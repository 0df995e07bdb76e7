import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toChanges } from '../../host/console/app/lists/audit-changes.ts'
import { lineOf, linesOf, parseJson } from '../../host/console/app/lists/json-lines.ts'
import { readLogFilter, toLogQuery, writeLogFilter } from '../../host/console/app/lists/log-filter.ts'
import { toLogText } from '../../host/console/app/lists/log-text.ts'
import { mergeRows } from '../../host/console/app/lists/merge-rows.ts'
import { toRecordPath } from '../../host/console/app/lists/record-path.ts'

describe('rows of a live list', () => {
  const rows = (...ids: string[]) => ids.map((id) => ({ id, state: 'old' }))
  const fresh = (...ids: string[]) => ids.map((id) => ({ id, state: 'new' }))
  const whole = { isWhole: true, isEnd: true }
  const part = { isWhole: false, isEnd: false }
  const merge = (...given: Parameters<typeof mergeRows<{ id: string; state: string }>>) => {
    const { rows, waiting } = mergeRows(...given)
    return [rows.map(({ id, state }) => `${id} ${state}`), waiting]
  }

  it('get the state of now and stay in their place, and newer ones wait', () => {
    assert.deepEqual(merge(rows('d', 'c'), fresh('f', 'e', 'd', 'c'), whole), [['d new', 'c new'], 2])
  })

  it('stay when so many newer ones came that they were not read again', () => {
    assert.deepEqual(merge(rows('d', 'c', 'b'), fresh('f', 'e', 'd'), part), [['d new', 'c old', 'b old'], 2])
  })

  it('go when they do not match the filter any more', () => {
    assert.deepEqual(merge(rows('d', 'c', 'b'), fresh('d', 'b'), part), [['d new', 'b new'], 0])
    assert.deepEqual(merge(rows('d', 'c', 'b'), fresh('d'), whole), [['d new'], 0])
    assert.deepEqual(merge(rows('d'), [], whole), [[], 0])
  })

  it('all wait where none was there', () => {
    assert.deepEqual(merge([], fresh('b', 'a'), whole), [[], 2])
  })

  it('wait between those that are shown, where they match the filter only now', () => {
    assert.deepEqual(merge(rows('d', 'b'), fresh('d', 'c', 'b'), whole), [['d new', 'b new'], 1])
    assert.deepEqual(merge(rows('d', 'b'), fresh('d', 'b', 'a'), whole), [['d new', 'b new'], 1])
    const isOnNextPage = { isWhole: true, isEnd: false }
    assert.deepEqual(merge(rows('d', 'b'), fresh('d', 'b', 'a'), isOnNextPage), [['d new', 'b new'], 0])
  })
})

describe('a line of a log', () => {
  it('has the author’s position above the trace of the error', () => {
    const trace = '    at send (plugins/a/index.ts:2:45)\n    at fetch (plugins/a/index.ts:9:1)'
    assert.deepEqual(toLogText(`Error: no\nmore\n${trace}`), {
      ...{ message: 'Error: no\nmore', where: 'plugins/a/index.ts:2:45', trace },
    })
    assert.equal(toLogText('Error\n    at f (plugins/a/b (2).ts:1:2)').where, 'plugins/a/b (2).ts:1:2')
    assert.equal(toLogText('Error\n    at f (plugins/a b/c.ts:1:2)').where, 'plugins/a b/c.ts:1:2')
    assert.equal(toLogText('Error\n    at plugins/a/c.ts:1:2').where, 'plugins/a/c.ts:1:2')
  })

  it('is its own message where a script wrote it', () => {
    for (const text of [
      '',
      'sent',
      'at 10:20:30',
      'meet at\n  at noon',
      '  at the end',
      'a\nb',
      'Error: x\n    at y',
    ])
      assert.deepEqual(toLogText(text), { message: text, trace: '' })
  })

  it('is read in a moment, whatever a script wrote', () => {
    const beganMs = performance.now()
    for (const part of ['(', ' at (', ':1', ':1:1', ' ', 'at ', '\n at (:1:1', ')'])
      toLogText(`    at ${part.repeat(300_000 / part.length)}x`)
    assert.ok(performance.now() - beganMs < 1_000)
  })
})

describe('the filter of the log in its address', () => {
  const nowMs = Date.parse('2026-01-01T00:00:00.000Z')

  it('is read and written as it was', () => {
    const query = { level: 'warn', text: 'a&b=%', installation: 'inst_1', period: 'hour' }
    assert.deepEqual(Object.fromEntries(new URLSearchParams(writeLogFilter(readLogFilter(query)))), query)
    assert.equal(writeLogFilter(readLogFilter({})), '')
    assert.equal(writeLogFilter(readLogFilter({ level: 'fatal', period: 'year', after: 'x' })), '')
  })

  it('becomes the query of the API', () => {
    assert.deepEqual(toLogQuery(readLogFilter({ level: 'error', text: ' x ', period: 'hour' }), nowMs), {
      ...{ level: 'error', text: ' x ', since: '2025-12-31T23:00:00.000Z' },
    })
    assert.deepEqual(toLogQuery(readLogFilter({ before: '2026-01-02' }), nowMs), {
      until: '2026-01-02T00:00:00.000Z',
    })
  })

  it('finds the lines of a request by its id', () => {
    assert.deepEqual(toLogQuery(readLogFilter({ text: ' req_01-a ' }), nowMs), { request: 'req_01-a' })
    assert.deepEqual(toLogQuery(readLogFilter({ text: 'of req_01' }), nowMs), { text: 'of req_01' })
    const long = toLogQuery(readLogFilter({ text: 'a'.repeat(300) }), nowMs)
    assert.deepEqual(long, { text: 'a'.repeat(200) })
  })
})

describe('the values of a change', () => {
  it('are those that differ, by their place in the record', () => {
    const before = { configuration: { team: 'blue', size: 1, list: [1, 2] }, same: true }
    const after = { configuration: { team: 'red', list: [1, 3], more: null }, same: true }
    assert.deepEqual(toChanges(before, after), [
      { path: 'configuration.team', before: 'blue', after: 'red' },
      { path: 'configuration.size', before: '1', after: undefined },
      { path: 'configuration.list', before: '[1,2]', after: '[1,3]' },
      { path: 'configuration.more', before: undefined, after: 'null' },
    ])
  })

  it('leave out fields that the change does not name', () => {
    const before = { slug: 'docs', title: 'Docs', url: null }
    assert.deepEqual(toChanges(before, { title: 'Guides' }), [
      { path: 'title', before: 'Docs', after: 'Guides' },
    ])
    assert.deepEqual(toChanges(before, {}), [])
  })

  it('are all values of a record that came or went', () => {
    assert.deepEqual(toChanges(null, { a: { b: 'x' }, empty: {} }), [
      { path: 'a.b', before: undefined, after: 'x' },
      { path: 'empty', before: undefined, after: '{}' },
    ])
    assert.deepEqual(toChanges({ a: 'x' }, null), [{ path: 'a', before: 'x', after: undefined }])
    assert.deepEqual(toChanges(null, null), [])
    assert.deepEqual(toChanges({}, { a: {} }), [{ path: 'a', before: undefined, after: '{}' }])
  })
})

describe('the page of a record', () => {
  it('is that of the record, of its level, or of its list', () => {
    const paths = {
      installation: ['inst_1', '/orgs/o/installations/inst_1'],
      site_installation: ['inst_1/site_2', '/orgs/o/installations/inst_1/sites/site_2'],
      space_installation: ['inst_1/space_2', '/orgs/o/installations/inst_1/spaces/space_2'],
      job: ['job_1', '/orgs/o/failed-work/job_1'],
      token: ['tok_1', '/orgs/o/tokens'],
      organization: ['org_1', '/orgs/o'],
      session: ['ses_1', undefined],
    } as const
    for (const [kind, [id, path]] of Object.entries(paths)) {
      assert.equal(toRecordPath('o', { kind, id }), path, kind)
    }
    assert.equal(toRecordPath('o', { kind: 'integration', id: 'a b?' }), '/orgs/o/integrations/a%20b%3F')
    assert.equal(toRecordPath('o', { kind: 'toString', id: 'x' }), undefined)
  })
})

describe('the lines of a JSON text', () => {
  const text = `{
  "type": "object",
  "properties": {
    "plan": { "type": 1,
      "enum": [
        "a", "\\"}",
        {"x/y~z": -1.5e3}
      ] } },
  "": [[], {}, null,
    true]
}`

  it('are those of its values, by their JSON pointers', () => {
    const lines = linesOf(text)
    const expected = {
      ...{ '': 1, '/type': 2, '/properties': 3, '/properties/plan': 4, '/properties/plan/type': 4 },
      ...{ '/properties/plan/enum': 5, '/properties/plan/enum/0': 6, '/properties/plan/enum/1': 6 },
      ...{ '/properties/plan/enum/2': 7, '/properties/plan/enum/2/x~1y~0z': 7 },
      ...{ '/': 9, '//0': 9, '//1': 9, '//2': 9, '//3': 10 },
    }
    assert.deepEqual(Object.fromEntries(lines), expected)
    assert.equal(lineOf(lines, '/properties/plan/minimum'), 4, 'the nearest one above')
    assert.equal(lineOf(lines, '/nothing'), 1)
    for (const short of ['1', '"a"', '[]', '{}', ' null ', '1'.repeat(100)])
      assert.deepEqual([...linesOf(short)], [['', 1]])
  })

  it('name where a text is no JSON', () => {
    const lineOfFault = (given: string) => {
      const parsed = parseJson(given)
      return 'fault' in parsed ? parsed.fault.line : parsed.value
    }
    assert.deepEqual(lineOfFault('{"a":\n1}'), { a: 1 })
    assert.equal(lineOfFault('{"a":\n1,\n}'), 3)
    assert.equal(lineOfFault('{"a":\n[1'), 2)
    assert.equal(lineOfFault(''), 1)
    assert.equal(lineOfFault('\n\nnot'), 3)
    assert.equal(lineOfFault('{"a": 1}\n}'), 2)
    assert.equal(lineOfFault('[1\n2]'), 2)
    assert.equal(lineOfFault('[1,\n"open\n]'), 2)
    assert.equal(lineOfFault('{\na: 1}'), 2)
    assert.equal(lineOfFault('{"a"\n1}'), 2)
    assert.equal(lineOfFault("['a']"), 1)
    assert.equal(lineOfFault('[\n01]'), 2)
  })
})
