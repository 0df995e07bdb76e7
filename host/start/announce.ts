import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where the command line finds this server. */
export function announce(dataDir: string, url: string): () => void {
  const path = join(dataDir, 'server.json')
  writeFileSync(path, `${JSON.stringify({ url, pid: process.pid })}\n`)
  return () => rmSync(path, { force: true })
}

/** An address that can be opened: `0.0.0.0` and `::` mean all of this machine's. */
export function hostOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
