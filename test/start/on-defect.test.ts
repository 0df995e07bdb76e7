import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createOnDefect } from '../../host/start/create-logger.ts'

it('a full disk is logged once a minute, and a defect each time', () => {
  const lines: unknown[][] = []
  let now = 0
  const logger = { error: (...line: unknown[]) => lines.push(line) }
  const onDefect = createOnDefect(logger as never, () => now)
  const full = () => Object.assign(new Error('insert - full'), { code: 'SQLITE_FULL' })
  for (let n = 0; n < 1_000; n++) onDefect(full(), `req_${n}`)
  assert.equal(lines.length, 1)
  assert.match(String(lines[0]?.[1]), /^The disk of the database is full/)
  onDefect(Object.assign(new Error('x'), { code: 'SQLITE_BUSY' }))
  assert.equal(lines.length, 2, 'another failure is another line')
  now = 61_000
  onDefect(full())
  assert.equal(lines.length, 3)
  for (let n = 0; n < 2; n++) onDefect(new TypeError('a defect'))
  assert.deepEqual(
    lines.slice(3).map(([, text]) => text),
    ['defect', 'defect'],
  )
})
