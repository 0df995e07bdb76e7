import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** They hide the subject of a rule, or name nothing of the glossary. test/docs has the same for the documents. */
const unclear = ['whoever', 'nobody', 'somebody', 'by and by', 'owe[ds]?', 'looks', 'goRound']
/** A name of a test, and a comment beside it, have plainer words for these. */
const unclearInTests = [
  ...['goOn', 'stretch(?:es)?', 'takers?', 'laid', 'noticed', 'by then', 'by itself', 'the ones', 'for good'],
  ...unclear,
]
/** A comment, or the name of a test. Other code of test/ may have any word. */
const spoken =
  /^[ \t]*(?:\/?\*\*?|\/\/)[ \t].*|[ \t]\/\/[ \t].*|\b(?:describe|it|test)\(\s*(?:'[^'\n]*'|"[^"\n]*"|`[^`\n]*`)|\basync '[^'\n]*'\(/gm
/** Names that a word had in an older version, by the word of ARCHITECTURE.md that replaces them. */
const aliases: Record<string, RegExp> = {
  cursor: /\b(?:(?:id|number|name|due|view|level)Place|(?:Feed|View|Due)Place|placeAt|placeIn)\b/,
  'host id': /\bplace: hostId\b|\bloadedBy: place\b/,
  level: /\b(?:Flow|flow)Place(?:Of)?\b|\bdescribePlace\b/,
  place: /\b(?:TargetKind|TargetOptions|TargetInstallationRecord|eventTarget|addTargetRoutes)\b/,
  recipient: /\b(?:[tT]akers?|takersOf|lockTaking)\b/,
  url: /\b(?:ownOrigin|allowOrigin|connectionsPerOrigin)\b/,
}
const line = /.+/g
const root = fileURLToPath(new URL('..', import.meta.url))

const anyOf = (words: readonly string[]) => new RegExp(`\\b(?:${words.join('|')})\\b`, 'i')

/** @param part matches the parts of a file in which the words are searched */
function find(word: RegExp, pattern: string, part: RegExp) {
  const files = globSync(pattern, { cwd: root, exclude: ['**/node_modules', 'test/words.test.ts'] })
  const parts = files.flatMap((file) => {
    const text = readFileSync(`${root}/${file}`, 'utf8')
    return [...text.matchAll(part)].map(({ 0: said, index }) => ({ file, text, said, index }))
  })
  const found = parts.flatMap(({ file, text, said, index }) => {
    const [first] = word.exec(said) ?? []
    return first === undefined ? [] : [`${file}:${text.slice(0, index).split('\n').length}: ${first}`]
  })
  return { count: parts.length, found }
}

test('comments and texts of host/ and runtime/ have no unclear word', () => {
  const { count, found } = find(anyOf(unclear), '{host,runtime}/**/*.ts', line)
  assert.ok(count > 20_000, `${count} lines`)
  assert.deepEqual(found, [])
})

test('comments of test/ and names of tests have no unclear word', () => {
  const { count, found } = find(anyOf(unclearInTests), 'test/**/*.ts', spoken)
  assert.ok(count > 3_000, `${count} comments and names`)
  assert.deepEqual(found, [])
})

for (const [word, alias] of Object.entries(aliases)) {
  test(`${word} is a word of ARCHITECTURE.md, and has no other name in host/ and runtime/`, () => {
    const table = readFileSync(`${root}/ARCHITECTURE.md`, 'utf8')
    assert.match(table, new RegExp(`^\\| ${word} \\|`, 'm'))
    assert.deepEqual(find(alias, '{host,runtime}/**/*.ts', line).found, [])
  })
}
