import { mkdirSync, writeFileSync } from 'node:fs'
import { loadApi } from '../../schemas/api.ts'
import { createApiPage } from './api-page.ts'

/** Writes the reference of the API as one page, and prints its address. Usage: node docs/generate/write-docs.ts */
const file = new URL('../../node_modules/.cache/annex/api.html', import.meta.url)
mkdirSync(new URL('.', file), { recursive: true })
writeFileSync(file, createApiPage(loadApi()))
process.stdout.write(`${file}\n`)
