import type { OpenApi } from '../../../../schemas/openapi.ts'
import { api } from '../api.ts'
import { type Reference, toReference } from './to-reference.ts'

let read: Promise<Reference> | undefined

/** Reads the description of the API once in a tab: it changes with the host's version alone. */
export function readReference(): Promise<Reference> {
  read ??= api
    .call('GET /openapi.json')
    .then((document) => toReference(document as unknown as OpenApi))
    .catch((error) => {
      read = undefined
      throw error
    })
  return read
}
