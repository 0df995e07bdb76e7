/** Writes the OpenAPI document that Annex serves at /openapi.json. Usage: node schemas/generate/write-openapi.ts FILE */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { loadApi } from '../api.ts'

const [file = 'openapi.json'] = process.argv.slice(2)
mkdirSync(dirname(file), { recursive: true })
writeFileSync(file, JSON.stringify(loadApi().document, null, 2))
