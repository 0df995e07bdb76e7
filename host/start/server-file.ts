import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Writes the file by which the command line finds this server.
 *
 * @returns removes the file
 */
export function writeServerFile(dataDir: string, url: string): () => void {
  const path = join(dataDir, 'server.json')
  writeFileSync(path, `${JSON.stringify({ url, pid: process.pid })}\n`, { mode: 0o600 })
  return () => rmSync(path, { force: true })
}

/** `0.0.0.0` and `::` are all addresses of this machine: the URL has one that can be opened. */
export function toUrl(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
