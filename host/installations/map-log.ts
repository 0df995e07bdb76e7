import { mapStack } from '../bundle/map-stack.ts'
import type { Db } from '../db/open-database.ts'
import { findDeployed } from './find-deployed.ts'

/** Turns the places in what an integration logged, `annex:NAME:line:column`, into the author's files and lines. */
export async function mapToSource(db: Db, integration: string, text: string): Promise<string> {
  if (!/annex:[\w-]+:\d+:\d+/.test(text)) return text
  const deployed = await findDeployed(db, integration)
  if (deployed === undefined) return text
  return mapStack(text, deployed.version.sourceMap, { folderName: `plugins/${deployed.integration.folder}` })
}
