import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transform } from 'esbuild'
import { EsbuildTimeout, runEsbuild } from '../../host/bundle/run-esbuild.ts'

const timeoutMs = 60_000
const good = async (n: number): Promise<string> =>
  (await runEsbuild(() => transform(`export const n = ${n}`), timeoutMs)).code

test('a text that crashes esbuild fails alone: the tasks before, beside and after it succeed', async () => {
  // It overflows the stack of the process that all tasks share.
  const bomb = runEsbuild(() => transform('['.repeat(1_000_000), { logLevel: 'silent' }), timeoutMs)
  const beside = [1, 2, 3].map(good)
  await assert.rejects(bomb, (error) => !(error instanceof EsbuildTimeout))
  for (const [n, code] of (await Promise.all([...beside, good(4)])).entries()) {
    assert.equal(code, `export const n = ${n + 1};\n`)
  }
})

test('a task that takes too long is a timeout, and the next one succeeds', async () => {
  const late = runEsbuild(() => new Promise(() => {}), 100)
  await assert.rejects(late, EsbuildTimeout)
  assert.equal(await good(1), 'export const n = 1;\n')
})
