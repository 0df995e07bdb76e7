import type { LookupAddress } from 'node:dns'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { cacheReads } from '../cache.ts'

/** The addresses of a name in the hosts file, `undefined` for a name that is not in it. */
export type HostsFile = (name: string) => Promise<LookupAddress[] | undefined>

/** RFC 6761, 6.3: such a name never leaves the machine. */
const loopback: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** A file that cannot be read is empty. It is read at most once a second. */
export function createHostsFile(path = '/etc/hosts'): HostsFile {
  const { get } = cacheReads({
    keyOf: (path: string) => path,
    read: async (path) => parseHosts(await readFile(path, 'utf8').catch(() => '')),
  })
  return async (name) => {
    const found = (await get(path)).get(name)
    return found ?? (name === 'localhost' || name.endsWith('.localhost') ? loopback : undefined)
  }
}

function parseHosts(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/)
    const family = isIP(address)
    if (family === 0) continue
    for (const name of new Set(names)) {
      const known = hosts.get(name) ?? []
      if (known.every((other) => other.address !== address)) hosts.set(name, [...known, { address, family }])
    }
  }
  return hosts
}
