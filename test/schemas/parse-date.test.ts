import assert from 'node:assert/strict'
import { it } from 'node:test'
import { timeOf } from '../../host/api/list-query.ts'

it('a time in a query is an existing day, with or without a time of day', () => {
  for (const [text, expected] of [
    ['2026-02-28', '2026-02-28T00:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2026-12', '2026-12-01T00:00:00.000Z'],
    ['2026-12-31T23:30:00+01:00', '2026-12-31T22:30:00.000Z'],
    ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
  ] as const) {
    assert.equal(new Date(timeOf('after', text)).toISOString(), expected)
  }
  for (const text of [
    '2026-02-30',
    '2026-02-30T10:00:00Z',
    '2026-04-31T00:00',
    '2027-02-29',
    '2026-13',
    '2026-01-00',
    '7',
    '',
  ]) {
    assert.throws(() => timeOf('after', text), {
      code: 'bad_request',
      message: `after is a time such as 2026-01-01T00:00:00.000Z, not "${text}".`,
    })
  }
})
