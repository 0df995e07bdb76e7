import { createHash, randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

/**
 * The name of a data folder among all machines: a hash of an id in the folder and the name of the machine. A copy of the
 * folder on another machine has another name. Called with the lock of the folder.
 */
export function hostIdentity(dataDir: string): string {
  const path = join(dataDir, 'host.id')
  const id = readId(path) ?? writeId(path)
  return createHash('sha256').update(`${hostname()}\n${id}`).digest('hex').slice(0, 32)
}

function readId(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}

function writeId(path: string): string {
  const id = randomUUID()
  writeFileSync(path, `${id}\n`, { mode: 0o600 })
  return id
}
