import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMachineFaults } from '../../support/machine-faults.ts'

/** Makes each sync of the disk take as many ms more, for whatever is started from here on. */
export function slowDisk(moreMs: number): Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'annex-slow-disk-'))
  // PostgreSQL has a user of its own.
  chmodSync(folder, 0o755)
  const { environment, setSync } = createMachineFaults(folder, folder)
  setSync(moreMs)
  Object.assign(process.env, environment)
  return {
    [Symbol.dispose]() {
      for (const name in environment) delete process.env[name]
      rmSync(folder, { recursive: true })
    },
  }
}
