import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The documents for people: those at the top, and all of docs/. */
export function readDocuments(): { file: string; text: string }[] {
  const pages = readdirSync(join(root, 'docs'), { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`)
  return ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', ...pages].map((file) => ({
    file,
    text: readFileSync(join(root, file), 'utf8'),
  }))
}
