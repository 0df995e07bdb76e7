import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { countOperationLines, most, summarize } from './operation-lines.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { operations, shared } = countOperationLines()

test('half of the operations have at most 90 lines that are written by hand', () => {
  const { median } = summarize(operations)
  assert.ok(median <= most, `median ${median}: \`node test/operation-lines.ts\` lists the operations`)
})

test('each operation has a description, a handler and a row of the matrix', () => {
  for (const { address, schema, api, row } of operations) {
    assert.ok(schema > 0 && api > 0 && row > 0, `${address}: ${[schema, api, row].join()}`)
  }
})

test('each line counts once', () => {
  const sum = (kind: 'schema' | 'api' | 'cli') =>
    operations.reduce((total, one) => total + one[kind], shared[kind])
  const linesOf = (pattern: string) =>
    globSync(pattern, { cwd: root })
      .filter((file) => !file.includes('/demo'))
      .reduce(
        (total, file) =>
          total +
          readFileSync(root + file, 'utf8')
            .trimEnd()
            .split('\n').length,
        0,
      )
  assert.equal(Math.round(sum('schema')), linesOf('schemas/api/*.schema.json'))
  assert.equal(Math.round(sum('api')), linesOf('host/api/*.ts'))
  assert.equal(Math.round(sum('cli')), linesOf('host/cli/*.ts'))
})
