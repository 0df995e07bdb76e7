import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { limitOfCode, limitsTable } from '../../host/config/limits-table.ts'
import { sandboxSettings } from '../../host/config/sandbox-settings.ts'
import { settingsTable } from '../../host/config/settings-table.ts'
import { errorCodes } from '../../host/errors.ts'
import { createMetrics } from '../../host/metrics/create-metrics.ts'

const page = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8')

describe('the limits', () => {
  it('are on their page, each with its default and setting', () => {
    for (const { what, at } of limitsTable) {
      const row = page.split('\n').find((line) => line.includes(`| ${what} |`))
      assert.ok(row !== undefined, what)
      if ('setting' in at) assert.ok(row.includes(`| \`${at.setting}\` |`), row)
      if ('setting' in at) assert.ok(row.includes(`| ${settingsTable[at.setting].default}`), row)
    }
  })

  it('include every number that an operator can set for sandboxes', () => {
    const listed = new Set(limitsTable.map(({ at }) => ('setting' in at ? at.setting : '')))
    const numbers = Object.entries(sandboxSettings)
      .filter(([name, { kind }]) => kind === 'integer' && !name.startsWith('SANDBOX_PROCESSES'))
      .map(([name]) => name)
    assert.ok(numbers.length > 15)
    for (const name of numbers) assert.ok(listed.has(name as never), name)
  })

  it('have statuses 503 for too much, 504 for too long, 502 for ended processes, else 4xx', () => {
    const statuses = new Set(
      limitsTable.flatMap(({ code }) => (code === undefined ? [] : [errorCodes[code].status])),
    )
    assert.deepEqual([...statuses].toSorted(), [413, 422, 429, 502, 503, 504])
    for (const code of [
      'cpu_limit',
      'memory_limit',
      'load_limit',
      'answer_too_large',
      'sandbox_busy',
    ] as const) {
      assert.equal(errorCodes[code].status, 503, code)
      assert.ok(limitOfCode(code) !== undefined, code)
    }
    assert.equal(errorCodes.wall_clock_limit.status, 504)
    assert.equal(limitOfCode('ok'), undefined)
    assert.equal(limitOfCode('sandbox_died'), undefined)
  })
})

describe('the metrics on that page', () => {
  it('are exactly the existing metrics', async () => {
    const metrics = createMetrics()
    const text = await metrics.text({ processes: [], levels: [] })
    const there = [...text.matchAll(/^# TYPE (annex_\w+)/gm)].map((match) => match[1])
    const named = [...page.matchAll(/`(annex_\w+)[{`]/g)].map((match) => match[1])
    assert.deepEqual([...new Set(named)].toSorted(), there.toSorted())
  })
})
