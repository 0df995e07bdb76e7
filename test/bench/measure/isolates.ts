// Prints how long an isolate with the web platform takes, as sandbox processes make them: the median in ms.
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type ivm from 'isolated-vm'
import { buildPrelude } from '../../../host/bundle/build-runtime.ts'
import { createPlatform, createPlatformContext } from '../../../runtime/process/isolate/platform.ts'
import { median } from './quantile.ts'

const engine: typeof ivm = createRequire(import.meta.url)('isolated-vm')
const cacheFolder = mkdtempSync(join(tmpdir(), 'annex-bench-'))
const { code } = await buildPrelude({ cacheFolder })
rmSync(cacheFolder, { recursive: true })
const platform = createPlatform(engine, code)
const times: number[] = []
for (let i = 0; i < 40; i++) {
  const startedAt = performance.now()
  const { isolate } = createPlatformContext(engine, platform, { memoryLimit: 64 })
  times.push(performance.now() - startedAt)
  isolate.dispose()
}
process.stdout.write(String(median(times)))
