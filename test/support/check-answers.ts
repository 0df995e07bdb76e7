import type { SeeAnswer } from '../../host/api/operations.ts'
import { AnnexError } from '../../host/errors.ts'
import { loadApi } from '../../schemas/api.ts'
import { standAlone } from '../../schemas/assemble-api.ts'
import { createCheck } from '../../schemas/create-check.ts'
import type { OpenApi, Schema } from '../../schemas/openapi.ts'

const { document } = loadApi()
const closed = toClosed(document)
const checks = new Map<string, ReturnType<typeof createCheck>>()
const formats = { from: 'ajv-formats/dist/formats.js', name: 'fullFormats' }

/**
 * Checks each answer against its schema, which then has no other fields. An answer that does not match, or whose status is
 * not described, becomes a 500 that says why: the test that asked for it fails.
 */
export function createAnswerCheck(): SeeAnswer {
  return ({ id, answers }, status, body) => {
    const answer = answers[status]
    if (answer === undefined) {
      if (status >= 500) return
      throw new AnnexError('internal', `schemas/api: ${id} has no answer ${status}.`)
    }
    const schema = answer.content?.['application/json']?.schema
    if (schema === undefined || status >= 400) return
    const key = `${id} ${status}`
    const check =
      checks.get(key) ?? createCheck(standAlone(close(schema), closed), { strict: false, formats })
    checks.set(key, check)
    const run = check()
    if (run(JSON.parse(JSON.stringify(body)))) return
    const [{ instancePath, message, params } = {}] = run.errors ?? []
    const text = `schemas/api: the answer ${status} of ${id}: ${instancePath} ${message} ${JSON.stringify(params)}`
    throw new AnnexError('internal', text)
  }
}

/** Checks the answer of an error, whatever its operation. */
export function assertErrorAnswer(json: unknown, what: string): void {
  if (!errorCheck()(json)) throw new Error(`This is no error as schemas/api describes it: ${what}`)
}

const errorCheck = createCheck(
  standAlone({ $ref: '#/components/schemas/ErrorAnswer', unevaluatedProperties: false }, document),
  { strict: false, formats },
)

function toClosed(document: OpenApi): OpenApi {
  const schemas = Object.entries(document.components.schemas ?? {})
  const inside = schemas.map(([name, schema]): [string, Schema] => [name, closeInside(schema)])
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(inside) } }
}

/** Refuses unknown fields where a schema is used, and in it. */
function close(schema: Schema): Schema {
  const isObject = '$ref' in schema || 'properties' in schema || 'allOf' in schema
  const isClosed = 'additionalProperties' in schema || 'unevaluatedProperties' in schema
  return { ...closeInside(schema), ...(isObject && !isClosed && { unevaluatedProperties: false }) }
}

/** Parts of a whole stay open: `unevaluatedProperties` of the whole sees them. */
function closeInside(schema: Schema): Schema {
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => {
    if (key === 'properties') {
      const properties = Object.entries(value as Record<string, Schema>)
      return [key, Object.fromEntries(properties.map(([name, inner]) => [name, close(inner)]))]
    }
    if (key === 'items' || key === 'additionalProperties') {
      return [key, typeof value === 'object' ? close(value as Schema) : value]
    }
    if (key === 'allOf' || key === 'anyOf' || key === 'oneOf') {
      return [key, (value as Schema[]).map(closeInside)]
    }
    return [key, value]
  })
  return Object.fromEntries(entries)
}
