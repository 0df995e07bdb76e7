import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** They hide the subject of a rule, or name nothing of the glossary. test/docs has the same for the documents. */
const unclear = /\b(?:whoever|nobody|somebody|by and by|owe[ds]?|looks|goRound)\b/i
/** Names that a word had in an older version, by the word of ARCHITECTURE.md that replaces them. */
const aliases: Record<string, RegExp> = {
  cursor: /\b(?:(?:id|number|name|due|view|level)Place|(?:Feed|View|Due)Place|placeAt|placeIn)\b/,
  'host id': /\bplace: hostId\b|\bloadedBy: place\b/,
  level: /\b(?:Flow|flow)Place(?:Of)?\b|\bdescribePlace\b/,
  place: /\b(?:TargetKind|TargetOptions|TargetInstallationRecord|eventTarget|addTargetRoutes)\b/,
  recipient: /\b(?:[tT]akers?|takersOf|lockTaking)\b/,
  url: /\b(?:ownOrigin|allowOrigin|connectionsPerOrigin)\b/,
}
const root = fileURLToPath(new URL('..', import.meta.url))

const findLines = (files: string, word: RegExp): string[] =>
  globSync(files, { cwd: root }).flatMap((file) =>
    readFileSync(`${root}/${file}`, 'utf8')
      .split('\n')
      .flatMap((line, n) => {
        const found = word.exec(line)?.[0]
        return found === undefined ? [] : [`${file}:${n + 1}: ${found}`]
      }),
  )

test('comments and texts of host/ and runtime/ have no unclear word', () => {
  assert.deepEqual(findLines('{host,runtime}/**/*.ts', unclear), [])
})

for (const [word, alias] of Object.entries(aliases)) {
  test(`${word} is a word of ARCHITECTURE.md, and has no other name in host/ and runtime/`, () => {
    const table = readFileSync(`${root}/ARCHITECTURE.md`, 'utf8')
    assert.match(table, new RegExp(`^\\| ${word} \\|`, 'm'))
    assert.deepEqual(findLines('{host,runtime}/**/*.ts', alias), [])
  })
}
