export type Unit = 'words' | 'characters'

/** What a reader sees of a Markdown text, counted: marks, links' addresses and code fences do not count. */
export function countText(markdown: string, unit: Unit, includeHeadings: boolean): number {
  const text = markdown
    .split('\n')
    .filter((line) => !line.startsWith('```') && (includeHeadings || !line.startsWith('#')))
    .map((line) =>
      line
        .replace(/^[#>\-*\s]+/, '')
        .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/[*_`]/g, ''),
    )
    .filter((line) => line.trim() !== '')
    .join(' ')
    .trim()
  if (unit === 'characters') return [...text].length
  return text === '' ? 0 : text.split(/\s+/).length
}
