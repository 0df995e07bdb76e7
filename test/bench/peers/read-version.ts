import { readFileSync } from 'node:fs'

/** The version of a peer that is installed here. Not every package lets its package.json be imported. */
export function readVersion(name: string): string {
  const url = new URL(`node_modules/${name}/package.json`, import.meta.url)
  return JSON.parse(readFileSync(url, 'utf8')).version
}
