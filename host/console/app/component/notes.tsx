import { componentTexts as texts } from '../texts/component.ts'
import type { Note } from './tree.ts'

/** Tells the author of a component what the page leaves out. */
export function Notes({ notes }: { notes: readonly Note[] }) {
  if (notes.length === 0) return null
  return (
    <details class="c-notes">
      <summary>{texts.notes(notes.length)}</summary>
      <ul class="bullets">
        {notes.map((note) => (
          <li key={textOf(note)}>{textOf(note)}</li>
        ))}
      </ul>
    </details>
  )
}

const textOf = (note: Note): string =>
  note.kind === 'unknown' ? texts.unknown(note.type) : texts.leftOut[note.kind]
