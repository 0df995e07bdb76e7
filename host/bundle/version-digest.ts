import { createHash } from 'node:crypto'
import type { Manifest } from '../../schemas/generated/manifest.ts'

/** What makes a version that version: SHA-256, in hex, over its manifest (whatever the order of fields) and its code. */
export function toVersionDigest(manifest: Manifest, code: string): string {
  // JSON has no NUL byte, so no other pair of manifest and code gives the same text.
  return createHash('sha256')
    .update(`${toCanonicalJson(manifest)}\0${code}`)
    .digest('hex')
}

/** JSON with the keys of each map sorted. */
function toCanonicalJson(data: unknown): string {
  return JSON.stringify(data, (_, value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}
