import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const kinds = ['', 'write', 'truncate', 'sync', 'create', 'rename', 'unlink', 'mkdir', 'rmdir'] as const

/** A change as undo-journal.c has noted it, before it was made; `struct note` says what its numbers are. */
export type Note = {
  kind: (typeof kinds)[number]
  number: number
  inode: number
  /** Of a change of names: the folder that has to be synced. */
  parent: number
  replaced: number
  offset: number
  length: number
  oldSize: number
  path: string
  to: string
  /** What a write has overwritten, or a truncation cut off. */
  oldBytes: Buffer
}

const headBytes = 4 * 4 + 7 * 8

/**
 * Reads the journal of the one process that has changed the folder.
 *
 * @throws Error when several processes did: their changes have no common order
 */
export function readNotes(journalFolder: string): Note[] {
  const journals = readdirSync(journalFolder).filter((name) => name.startsWith('journal-'))
  if (journals.length > 1) throw new Error(`${journals.length} processes have written to the folder`)
  const [name] = journals
  return name === undefined ? [] : parseNotes(readFileSync(join(journalFolder, name)))
}

/** What was killed while it wrote a note has not made the change that the note is of: it is left out. */
function parseNotes(bytes: Buffer): Note[] {
  const notes: Note[] = []
  let at = 0
  while (at + headBytes <= bytes.length) {
    const [kind = 0, pathLength = 0, toLength = 0, byteCount = 0] = [0, 4, 8, 12].map((offset) =>
      bytes.readUInt32LE(at + offset),
    )
    const numberAt = (index: number) => Number(bytes.readBigUInt64LE(at + 16 + index * 8))
    const [number, inode, parent, replaced, offset, length, oldSize] = [
      ...[numberAt(0), numberAt(1), numberAt(2), numberAt(3)],
      ...[numberAt(4), numberAt(5), numberAt(6)],
    ] as [number, number, number, number, number, number, number]
    const pathAt = at + headBytes
    const toAt = pathAt + pathLength
    const bytesAt = toAt + toLength
    at = bytesAt + byteCount
    if (at > bytes.length) break
    notes.push({
      ...{ kind: kinds[kind] ?? '', number, inode, parent, replaced, offset, length, oldSize },
      path: bytes.toString('utf8', pathAt, toAt),
      to: bytes.toString('utf8', toAt, bytesAt),
      oldBytes: bytes.subarray(bytesAt, at),
    })
  }
  return notes
}
