import { closeSync, fsyncSync, linkSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a file that only this user reads, and returns when it is on the disk, its name too. It is there with all of its
 * text or not at all, whenever the power is cut.
 *
 * @throws NodeJS.ErrnoException `EEXIST` when there is one already: it is never replaced
 */
export function createDurably(path: string, text: string): void {
  const draft = `${path}.${process.pid}.draft`
  try {
    writeFileSync(draft, text, { mode: 0o600, flush: true })
    linkSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(dirname(path))
}

function syncFolder(folder: string): void {
  const opened = openSync(folder, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}
