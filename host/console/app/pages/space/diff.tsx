import { structuredPatch } from 'diff'
import { useMemo } from 'preact/hooks'
import { spaceTexts as texts } from '../../texts/space.ts'

/** Texts that differ in all of their many lines take the square of their number. */
const mostMs = 1_000

/** Two texts compared by lines: what went, what came, and three lines around. */
export function Diff({ before, after, label }: { before: string; after: string; label: string }) {
  const patch = useMemo(
    () =>
      structuredPatch('', '', endLine(before), endLine(after), '', '', { context: 3, timeout: mostMs }) as
        | ReturnType<typeof structuredPatch>
        | undefined,
    [before, after],
  )
  if (patch === undefined) {
    return (
      <>
        <p class="muted">{texts.revision.tooLarge}</p>
        <h3>{texts.revision.textBefore}</h3>
        <pre dir="auto">{before}</pre>
        <h3>{texts.revision.textAfter}</h3>
        <pre dir="auto">{after}</pre>
      </>
    )
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard scrolls the box
    <section class="diff" aria-label={label} tabIndex={0}>
      {patch.hunks.map(({ lines, newStart }) => (
        <div key={newStart} class="hunk">
          {lines.map((line, index) => (
            <Line key={index} line={line} />
          ))}
        </div>
      ))}
    </section>
  )
}

function Line({ line }: { line: string }) {
  const text = line.slice(1) || ' '
  if (line.startsWith('-')) return <del dir="auto">{text}</del>
  if (line.startsWith('+')) return <ins dir="auto">{text}</ins>
  return <div dir="auto">{text}</div>
}

/** A missing end of the last line, and other ends of lines, are no difference that a reader sees. */
function endLine(given: string): string {
  const text = given.replace(/\r\n?/g, '\n')
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
