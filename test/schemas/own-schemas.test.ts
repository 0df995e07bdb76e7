import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { recordSchemas, sealedSchema, subjectSchemas } from '../../host/move/record-schemas.ts'
import frames from '../../host/sandbox/dispatch/frames.schema.json' with { type: 'json' }
import { createDeliveryCall } from '../../host/webhooks/delivery-call.ts'
import { createAjv } from '../../schemas/create-ajv.ts'
import { eventSchemas } from '../../schemas/events.ts'
import manifest from '../../schemas/manifest.schema.json' with { type: 'json' }

const deliveryCall = createDeliveryCall({ store: async () => assert.fail() } as never, () => {})
const own: Record<string, object> = {
  ...{ manifest, frames, sealedSchema, delivery: deliveryCall.args },
  ...recordSchemas,
  ...subjectSchemas,
  ...eventSchemas,
}

test('each of our schemas is one, as they are not checked when Annex starts', () => {
  const ajv = new Ajv2020()
  for (const [name, schema] of Object.entries(own)) {
    assert.ok(ajv.validateSchema(schema), `${name}: ${ajv.errorsText(ajv.errors)}`)
  }
  assert.ok(Object.keys(own).length > 15)
  assert.equal(ajv.validateSchema({ ...manifest, required: 'name' }), false)
})

test('data is checked as if the schema had been', () => {
  const schema = {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string', minLength: 2 } },
  }
  const check = createAjv({ strict: true }).compile(schema)
  assert.equal(check({ name: 'ab' }), true)
  assert.equal(check({ name: 'a' }), false)
  assert.equal(check({}), false)
  // What no schema has is still refused.
  assert.throws(() => createAjv({ strict: true }).compile({ ...schema, requird: [] }), /unknown keyword/)
})
