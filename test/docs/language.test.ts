import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readDocuments } from './documents.ts'
import { averageSentence, toProse } from './prose.ts'

/** Words that hide the subject of a rule, or name nothing of the glossary. */
const unclear = /\b(?:whoever|nobody|somebody|by and by|owe[ds]?|owing|looks|goRound)\b/i
const mostWords = 17

describe('the language of the documents', () => {
  for (const { file, text } of readDocuments()) {
    it(`${file} has no unclear word`, () => {
      const found = text.split('\n').flatMap((line, n) => {
        const word = unclear.exec(line)?.[0]
        return word === undefined ? [] : [`${file}:${n + 1}: ${word}`]
      })
      assert.deepEqual(found, [])
    })

    it(`${file} has at most ${mostWords} words a sentence on average`, () => {
      const average = averageSentence(toProse(text))
      assert.ok(average <= mostWords, `${file}: ${average.toFixed(1)} words a sentence`)
    })
  }
})

describe('the count of words', () => {
  it('omits code blocks, generated parts and headings', () => {
    const text = '# A heading\n\n```sh\nmake run\n```\n\n<!-- a -->\n| a | b |\n<!-- /a -->\n\nAnnex starts.'
    assert.deepEqual(toProse(text), ['Annex starts.'])
  })

  it('counts a wrapped paragraph, an item and a long cell as one text each', () => {
    const cell = 'a cell that says something in eight words'
    const text = `One two\nthree. Four.\n\n- Five six\n  seven.\n- Eight.\n\n| a | b |\n|---|---|\n| name | ${cell} |`
    assert.deepEqual(toProse(text), ['One two three. Four.', 'Five six seven.', 'Eight.', cell])
  })

  it('does not end a sentence at the dot of a name or a number', () => {
    assert.equal(averageSentence(['See docs/api.md for version 1.2 of it.']), 7)
  })

  it('omits labels of one or two words', () => {
    assert.equal(averageSentence(['a b c d', 'e', 'f g']), 4)
  })
})
