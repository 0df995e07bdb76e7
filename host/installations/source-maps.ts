import { TraceMap } from '@jridgewell/trace-mapping'
import { LRUCache } from 'lru-cache'
import { frameOfStack, mapStack } from '../bundle/map-stack.ts'
import type { Db } from '../db/db.ts'
import { findIntegration } from '../db/queries/integrations.ts'
import { findSourceMap, type VersionKey } from '../db/queries/versions.ts'
import type { ToSource } from '../logs/create-log-writer.ts'

const maxKept = 50
const unmapped = { map: (text: string) => text, frame: () => undefined }

/**
 * Turns the positions in log lines of integrations, `annex:NAME:line:column`, into the author's files and lines. A version's source
 * map is read and parsed once.
 */
export function createToSource(db: Db): ToSource {
  const kept = new LRUCache<string, TraceMap>({ max: maxKept })
  return async (integration, version) => {
    const row = await findIntegration(db, integration)
    if (row === undefined) return unmapped
    const which = version === undefined ? { id: row.versionId } : { integration, digest: version }
    const key = Object.values(which).join(' ')
    const trace = kept.get(key) ?? (await read(key, which))
    const options = { integration, folderName: `plugins/${row.folder}` }
    if (trace === undefined) return unmapped
    return {
      map: (text) => mapStack(text, trace, options),
      frame: (text) => frameOfStack(text, trace, integration),
    }
  }

  async function read(key: string, which: VersionKey): Promise<TraceMap | undefined> {
    const sourceMap = await findSourceMap(db, which)
    if (sourceMap === undefined) return undefined
    const trace = new TraceMap(sourceMap)
    kept.set(key, trace)
    return trace
  }
}
