import { TraceMap } from '@jridgewell/trace-mapping'
import { frameOfStack, mapStack } from '../bundle/map-stack.ts'
import type { Db } from '../db/db.ts'
import { findIntegration, findVersion } from '../db/queries/integrations.ts'
import type { ToSource } from '../logs/create-log-writer.ts'

const maxKept = 50
const unmapped = { map: (text: string) => text, frame: () => undefined }

/**
 * Turns the places in log lines of integrations, `annex:NAME:line:column`, into the author's files and lines. A version's source
 * map is read and parsed once.
 */
export function createToSource(db: Db): ToSource {
  const kept = new Map<string, TraceMap>()
  return async (integration) => {
    const row = await findIntegration(db, integration)
    if (row === undefined || row.versionId === null) return unmapped
    const trace = kept.get(row.versionId) ?? (await read(row.versionId))
    const options = { integration, folderName: `plugins/${row.folder}` }
    if (trace === undefined) return unmapped
    return {
      map: (text) => mapStack(text, trace, options),
      frame: (text) => frameOfStack(text, trace, integration),
    }
  }

  async function read(versionId: string): Promise<TraceMap | undefined> {
    const version = await findVersion(db, versionId)
    if (version === undefined) return undefined
    const trace = new TraceMap(version.sourceMap)
    if (kept.size >= maxKept) kept.clear()
    kept.set(versionId, trace)
    return trace
  }
}
