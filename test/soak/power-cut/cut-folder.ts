import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileLibrary } from '../../support/compile-library.ts'
import { type CutPower, cutPower, type Forgetting } from './cut-power.ts'

/** A data folder. A process with `environment` records its changes, so that they can be undone. */
export type CutFolder = {
  folder: string
  dataDir: string
  environment: Record<string, string>
  /** Call it after all processes have ended. The remaining bytes are durable. */
  cut: (forgetting: Forgetting) => CutPower
  remove: () => void
}

export function createCutFolder(): CutFolder {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'annex-power-cut-')))
  const dataDir = join(folder, 'data')
  const journal = join(folder, 'journal')
  mkdirSync(dataDir)
  mkdirSync(join(journal, 'keep'), { recursive: true })
  const library = compileLibrary(new URL('undo-journal.c', import.meta.url), folder)
  return {
    folder,
    dataDir,
    environment: { LD_PRELOAD: library, POWER_CUT_FOLDER: dataDir, POWER_CUT_JOURNAL: journal },
    cut(forgetting) {
      const result = cutPower(journal, forgetting)
      rmSync(journal, { recursive: true })
      mkdirSync(join(journal, 'keep'), { recursive: true })
      return result
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
