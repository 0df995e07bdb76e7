// By its path: the package does not export the file.
import tables from '../../../node_modules/@exodus/bytes/fallback/multi-byte.encodings.json' with {
  type: 'json',
}

/**
 * The tables of the legacy multi-byte encodings as JSON, which a guest asks for when it decodes the first such text:
 * in the prelude they would be a third of it, in every isolate.
 */
export const encodingTables = JSON.stringify(tables)
