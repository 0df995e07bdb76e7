import {
  closeSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Note, readNotes } from './read-notes.ts'

/** What the disk makes of changes that were not synced: forgets all, or keeps some of them in pieces. */
export type Forgetting = { mode: 'everything' } | { mode: 'some'; random: () => number }

export type CutPower = { writes: number; syncs: number; undone: number }

/** A disk writes at least so much at once, and may stop between two of them. */
const sectorBytes = 512

/**
 * Takes back the changes of a process that was killed, as a power cut would: those of a file that were noted after its
 * last sync, and those of names after the last sync of their folder. That is the strictest reading of POSIX; real file
 * systems forget less (ext4 keeps a new file's name once the file is synced).
 *
 * With `some`, names are forgotten from a random point on, as a file system's own journal would, and of each write a
 * random choice of sectors reaches the disk, out of order.
 */
export function cutPower(journalFolder: string, forgetting: Forgetting): CutPower {
  const notes = readNotes(journalFolder)
  const undone = unsynced(notes)
  const keptFolder = join(journalFolder, 'keep')
  const namesUntil = forgetting.mode === 'some' ? cutPoint(undone, forgetting.random) : 0
  // Backwards: each finds what was there right after it.
  const redone = undone.toReversed().map((note) => undo(note, keptFolder, namesUntil))
  if (forgetting.mode === 'some') {
    for (const redo of redone.toReversed()) redo(forgetting.random)
  }
  const count = (kind: Note['kind']) => notes.filter((note) => note.kind === kind).length
  return { writes: count('write'), syncs: count('sync'), undone: undone.length }
}

/** Changes that no sync covers, in their order. */
function unsynced(notes: Note[]): Note[] {
  const covered = new Map<number, number>()
  for (const { kind, inode, offset } of notes) {
    if (kind === 'sync') covered.set(inode, Math.max(covered.get(inode) ?? 0, offset))
  }
  const keyOf = ({ kind, inode, parent }: Note) => (kind === 'write' || kind === 'truncate' ? inode : parent)
  return notes.filter((note) => note.kind !== 'sync' && note.number > (covered.get(keyOf(note)) ?? 0))
}

function cutPoint(undone: Note[], random: () => number): number {
  return undone[Math.floor(random() * undone.length)]?.number ?? 0
}

type Redo = (random: () => number) => void

/** @returns makes the change again, or a part of it */
function undo(note: Note, keptFolder: string, namesUntil: number): Redo {
  const { kind, number, path, to, inode, replaced } = note
  const kept = (wanted: number) => join(keptFolder, String(wanted))
  if (kind === 'write' || kind === 'truncate') return undoData(note, kept(inode))
  if (number < namesUntil) return () => {}
  switch (kind) {
    case 'create':
    case 'mkdir':
      rmSync(path, { recursive: true, force: true })
      break
    case 'unlink':
      ignoring('EEXIST', () => linkSync(kept(inode), path))
      break
    case 'rmdir':
      mkdirSync(path, { recursive: true })
      break
    case 'rename':
      // Killed between its note and the renaming: nothing to take back.
      ignoring('ENOENT', () => renameSync(to, path))
      if (replaced !== 0) ignoring('EEXIST', () => linkSync(kept(replaced), to))
      break
  }
  return () => {}
}

function undoData({ kind, offset, length, oldSize, oldBytes }: Note, file: string): Redo {
  const fd = openSync(file, 'r+')
  const made = Buffer.alloc(kind === 'write' ? length : 0)
  const madeLength = kind === 'write' ? readSync(fd, made, 0, length, offset) : 0
  writeAll(fd, oldBytes, offset)
  if (fstatSync(fd).size !== oldSize) ftruncateSync(fd, oldSize)
  closeSync(fd)
  return (random) => {
    const again = openSync(file, 'r+')
    if (kind === 'truncate') ftruncateSync(again, offset)
    for (let at = 0; at < madeLength; ) {
      // Sectors of the file, not of the write.
      const end = Math.min(madeLength, at + sectorBytes - ((offset + at) % sectorBytes))
      if (random() < 0.5) writeAll(again, made.subarray(at, end), offset + at)
      at = end
    }
    closeSync(again)
  }
}

function writeAll(fd: number, bytes: Uint8Array, offset: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done, offset + done)
  }
}

function ignoring(code: string, act: () => void): void {
  try {
    act()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== code) throw error
  }
}
