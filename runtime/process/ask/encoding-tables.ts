import { readFileSync } from 'node:fs'

/**
 * The tables of the legacy multi-byte encodings as JSON, which a guest asks for when it decodes the first such text:
 * in the prelude they would be a third of it, in every isolate.
 */
export const encodingTables = readFileSync(
  new URL('fallback/multi-byte.encodings.json', import.meta.resolve('@exodus/bytes/encoding.js')),
  'utf8',
)
