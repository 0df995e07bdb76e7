import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { loadApi } from '../../schemas/api.ts'
import { standAlone } from '../../schemas/assemble-api.ts'
import { createCheck } from '../../schemas/create-check.ts'
import type { Operation } from '../../schemas/list-operations.ts'
import type { Schema } from '../../schemas/openapi.ts'
import { type Annex, installSample, type Json, startAnnex } from '../support/annex.ts'
import { type OwnPage, setUp } from '../support/own-page.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: (request, { environment }) => Response.json(environment.apiTokens),
})`

const { document, operations } = loadApi()
const formats = { from: 'ajv-formats/dist/formats.js', name: 'fullFormats' }
const checkOf = (schema: Schema) => createCheck(standAlone(schema, document), { strict: false, formats })()
const withBody = operations.filter(({ body, isBodyChecked }) => body !== undefined && isBodyChecked)

/** A body's own schema, where the operation names a record. */
const resolve = (schema: Schema): Schema =>
  typeof schema.$ref === 'string'
    ? resolve(document.components.schemas?.[schema.$ref.split('/').at(-1) ?? ''] ?? {})
    : schema

const fieldsOf = (operation: Operation): [string, Schema][] =>
  Object.entries((resolve(operation.body ?? {}).properties ?? {}) as Record<string, Schema>)

describe('a wrong field of the body', () => {
  let annex: Annex
  let tokens: Record<string, string>
  let operator: OwnPage
  before(async () => {
    annex = await startAnnex({ plugins: { asks: { script } } })
    const { endpoint } = await installSample(annex, 'asks')
    tokens = (await (await fetch(endpoint)).json()) as Record<string, string>
    operator = await setUp(annex)
  })
  after(() => annex.close())

  /** Names no record: a body that is accepted changes little. */
  const send = async ({ method, path, roles }: Operation, body: unknown) => {
    if (roles.every((role) => role === 'account')) {
      const { status, json } = await operator.call(method, path, JSON.stringify(body))
      return { status, json, text: JSON.stringify(json) }
    }
    const token = roles.includes('operator') || roles.includes('anyone') ? undefined : tokens.integration
    return annex.api(method, path.replaceAll(/\{\w+\}/g, 'x'), body, token)
  }

  for (const operation of withBody) {
    const { id, bodyExample } = operation
    const example = bodyExample as Record<string, unknown>

    it(`of ${id} is refused with its path`, async () => {
      for (const [field, schema] of fieldsOf(operation)) {
        const fits = checkOf(schema)
        await fc.assert(
          fc.asyncProperty(wrongOrRight, async (value) => {
            const body = { ...example, [field]: value }
            const { status, json, text } = await send(operation, body)
            if (fits(value)) {
              assert.ok(status < 500, `${field}: ${JSON.stringify(value)}: ${text}`)
              return
            }
            // Operations for anyone take short bodies alone.
            if (status === 413 && JSON.stringify(body).length > operation.maxBodyBytes) return
            // A number that JSON.parse would round is refused before the schema is asked.
            if (status === 400 && /would be rounded/.test(json.error.message)) return
            assert.deepEqual([status, json.error.code], [422, 'body_invalid'], `${field}: ${text}`)
            const paths = json.error.details.map(({ path }: Json) => path)
            assert.ok(
              paths.every((path: string) => path.startsWith(`/${field}`)),
              `${field}: ${text}`,
            )
          }),
          { numRuns: 12 },
        )
      }
    })

    it(`of ${id} is refused: a missing or unknown one, and a body that is not an object`, async () => {
      const required = (resolve(operation.body ?? {}).required ?? []) as string[]
      const bodies = [
        ...required.map((name) =>
          Object.fromEntries(Object.entries(example).filter(([key]) => key !== name)),
        ),
        { ...example, notAField: 1 },
        Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`field${n}`, n])),
        ...[null, [], [example], 'text', 1, true],
      ]
      for (const body of bodies) {
        const { status, json, text } = await send(operation, body)
        assert.deepEqual([status, json.error.code], [422, 'body_invalid'], `${JSON.stringify(body)}: ${text}`)
      }
    })
  }

  it('of a long body is refused with the first mistake only', async () => {
    const path = '/v1/integrations/asks/installations/inst_0'
    const { status, json } = await annex.api('PATCH', path, { externalIds: Array(30_000).fill(1) })
    assert.deepEqual([status, json.error.code, json.error.details.length], [422, 'body_invalid', 1])
  })
})

/** Values of each kind, and those that a careless check takes for another kind. */
const wrongOrRight = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e300, '', ' ', '0', 'true', [], [[]], {}, { a: 1 }),
  fc.constantFrom<unknown>('a'.repeat(20_000), '../..', '\u0000', '\ud800', '__proto__', '{{7*7}}'),
  fc.jsonValue({ maxDepth: 3 }),
)
