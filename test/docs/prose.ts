/** The texts of a document that are read as sentences: paragraphs, list items and table cells. */
export function toProse(markdown: string): string[] {
  const written = markdown
    .replaceAll(/<!-- (.+?) -->[\s\S]*?<!-- \/\1 -->/g, '')
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
  const texts: string[] = []
  let isOpen = false
  for (const line of written.split('\n')) {
    if (/^\s*$|^#|^\|[-| ]+\|$/.test(line)) isOpen = false
    else if (line.startsWith('|')) texts.push(...cellsOf(line))
    else if (/^\s*(?:[-*]|\d+\.) /.test(line) || !isOpen) {
      texts.push(line.replace(/^\s*(?:[-*]|\d+\.) /, '').trim())
      isOpen = true
    } else texts.push(`${texts.pop() ?? ''} ${line.trim()}`)
  }
  return texts
}

/** Shorter cells are labels. */
const fewestInCell = 8

function cellsOf(line: string): string[] {
  const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
  return cells.filter((cell) => cell.split(/\s+/).length >= fewestInCell)
}

/** Items with fewer words are labels. */
const fewestWords = 3

/** Words of a sentence on average. Code counts as one word, a link by its text. */
export function averageSentence(texts: readonly string[]): number {
  const sentences = texts
    .map((text) => text.replaceAll(/`[^`]+`/g, 'code').replaceAll(/\]\([^)]*\)/g, ']'))
    .flatMap((text) => text.split(/(?<=[.!?])["')*]*\s+/))
    .map((sentence) => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length)
    .filter((words) => words >= fewestWords)
  return sentences.reduce((sum, words) => sum + words, 0) / Math.max(1, sentences.length)
}
