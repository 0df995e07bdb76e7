import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { compileLibrary } from './compile-library.ts'

/** A machine whose clock jumps and whose disk fails when a test says so, for a process with this `environment`. */
export type MachineFaults = {
  environment: Record<string, string>
  /** How far the wall clock is off, in ms. The monotonic clock goes on as it does. */
  setClock: (offMs: number) => void
  /** Whether writes to files below the folder fail for want of room. */
  setDiskFull: (isFull: boolean) => void
  /** How many ms more the disk takes for each sync, at most until this is called again, or that it fails. */
  setSync: (slowerMs: number | 'fails') => void
}

/**
 * @param folder a test's own: the library and the switches are put there
 * @param diskFolder what is on the disk that may be full
 */
export function createMachineFaults(folder: string, diskFolder: string): MachineFaults {
  const library = compileLibrary(new URL('machine-faults.c', import.meta.url), folder)
  const file = join(folder, 'faults')
  writeFileSync(file, Buffer.alloc(24))
  const set = (index: number, value: number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(value))
    const switches = openSync(file, 'r+')
    writeSync(switches, bytes, 0, bytes.length, index * bytes.length)
    closeSync(switches)
  }
  return {
    environment: { LD_PRELOAD: library, FAULTS_FILE: file, FAULTS_FOLDER: diskFolder },
    setClock: (offMs) => set(0, offMs),
    setDiskFull: (isFull) => set(1, isFull ? 1 : 0),
    setSync: (slowerMs) => set(2, slowerMs === 'fails' ? -1 : slowerMs),
  }
}
