import { assembleApi } from './assemble-api.ts'
import { listOperations, type Operation } from './list-operations.ts'
import type { OpenApi } from './openapi.ts'
import { readApiFiles } from './read-api-files.ts'

/** The document, and its operations. */
export type Api = { document: OpenApi; operations: Operation[] }

let loaded: Api | undefined

/** Loads the files of schemas/api, once in a process. */
export function loadApi(): Api {
  if (loaded !== undefined) return loaded
  const document = assembleApi(readApiFiles())
  loaded = { document, operations: listOperations(document) }
  return loaded
}
