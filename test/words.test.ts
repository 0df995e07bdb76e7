import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** They hide the subject of a rule, or name nothing of the glossary. test/docs has the same for the documents. */
const unclear = /\b(?:whoever|nobody|somebody|by and by|owe[ds]?|looks|goRound)\b/i
const root = fileURLToPath(new URL('..', import.meta.url))

test('comments and texts of host/ and runtime/ have no unclear word', () => {
  const found = globSync('{host,runtime}/**/*.ts', { cwd: root }).flatMap((file) =>
    readFileSync(`${root}/${file}`, 'utf8')
      .split('\n')
      .flatMap((line, n) => {
        const word = unclear.exec(line)?.[0]
        return word === undefined ? [] : [`${file}:${n + 1}: ${word}`]
      }),
  )
  assert.deepEqual(found, [])
})
