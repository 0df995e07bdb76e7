import { join } from 'node:path'
import type { Logger } from 'pino'
import { buildPrelude } from './bundle/build-prelude.ts'
import type { Settings } from './config/load-settings.ts'
import type { LogWriter } from './logs/create-log-writer.ts'
import type { RunHostCall } from './sandbox/host-calls.ts'
import { createSandboxes, type Sandboxes } from './sandbox/sandboxes.ts'

/** Builds the web platform for isolates, and starts the processes that hold them. */
export async function startSandboxes(given: {
  settings: Settings
  dataDir: string
  runCall: RunHostCall
  logs: LogWriter
  logger: Logger
}): Promise<Sandboxes> {
  const { settings, logs, logger } = given
  const { code } = await buildPrelude({ cacheFolder: join(given.dataDir, 'cache') })
  return createSandboxes({
    prelude: code,
    limits: {
      heapMb: settings.SANDBOX_HEAP_MB,
      residentMb: settings.SANDBOX_RESIDENT_MB,
      cpuMs: settings.SANDBOX_CPU_MS,
      wallMs: settings.SANDBOX_WALL_MS,
      bodyBytes: settings.SANDBOX_BODY_BYTES,
      calls: settings.SANDBOX_CALLS,
      pending: settings.SANDBOX_PENDING,
    },
    processesPerGroup: settings.SANDBOX_PROCESSES,
    runCall: given.runCall,
    onLog(source, level, text) {
      if (source === undefined) return logger.warn({ text }, 'sandbox process')
      const { integration, installationId = null, requestId = null } = source
      logs.write({ integration, installationId, requestId, level, text })
    },
    onProcessEnd: (slot, cause) => logger.warn({ slot, cause }, 'sandbox process ended; started again'),
  })
}
