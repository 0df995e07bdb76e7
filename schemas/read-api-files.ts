import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ErrorObject } from 'ajv/dist/2020.js'
import sourceSchema from './api-source.schema.json' with { type: 'json' }
import { createCheck } from './create-check.ts'
import { toDetail } from './describe-error.ts'
import { eventSchemas, publishableEventTypes, toPublishSchema } from './events.ts'
import { expandFiles } from './expand-operations.ts'
import type { ApiSource } from './generated/api-source.ts'
import type { ApiFile } from './openapi.ts'

const suffix = '.schema.json'
const ownFolder = fileURLToPath(new URL('./api', import.meta.url))
const checkSource = createCheck<ApiSource>(sourceSchema, { strict: true, allowUnionTypes: true })

/** The events that an organization may publish, from schemas/events. */
const publishedEvents: ApiSource = {
  $id: 'published-events',
  title: 'Published events',
  description: 'Events as they are published.',
  $defs: Object.fromEntries(
    publishableEventTypes.map((type) => {
      const { $id: _id, $schema: _schema, title, ...schema } = toPublishSchema(eventSchemas[type])
      return [`Published${title}`, schema]
    }),
  ),
}

/**
 * Reads the files of schemas/api, with their operations as OpenAPI has them.
 *
 * @throws Error that names the file, the operation and the field
 */
export function readApiFiles(folder = ownFolder): ApiFile[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(suffix))
  const sources = names.sort().map((name) => parseApiSource(readFileSync(join(folder, name), 'utf8'), name))
  return expandFiles([...sources, publishedEvents])
}

function parseApiSource(text: string, name: string): ApiSource {
  const fail = (problem: string) => new Error(`schemas/api/${name}: ${problem}`)
  let source: unknown
  try {
    source = JSON.parse(text)
  } catch (error) {
    throw fail(`this is not JSON: ${(error as Error).message}`)
  }
  const check = checkSource()
  if (!check(source)) throw fail(toText(check.errors?.at(-1)))
  if (`${source.$id}${suffix}` !== name) throw fail(`$id must be ${name.slice(0, -suffix.length)}`)
  return source
}

/** `GET /v1/orgs/{org}: answers/200/schma is not a known field` */
function toText(error: ErrorObject | undefined): string {
  if (error === undefined) return 'does not match schemas/api-source.schema.json'
  const { path, message } = toDetail(error)
  const keys = path
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  const name: unknown = error.keyword === 'propertyNames' ? error.params.propertyName : undefined
  const of = keys[0] === 'operations' && keys.length > 1 ? `${keys[1]}: ` : ''
  const field = (of === '' ? keys : keys.slice(2)).join('/')
  if (name !== undefined) return `${of}${field}: "${name}" is not ${keyForms[keys.at(-1) ?? '']}`
  return `${of}${field} ${message}`.trim()
}

const keyForms: Readonly<Record<string, string>> = {
  operations: 'a method and a path, as in "GET /v1/orgs/{org}"',
  answers: 'a status from 200 to 599',
}
