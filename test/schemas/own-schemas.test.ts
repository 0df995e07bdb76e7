import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { createTaskCall } from '../../host/events/tasks.ts'
import { createFetchCall } from '../../host/sandbox/fetch-call.ts'
import frames from '../../host/sandbox/process/frames.schema.json' with { type: 'json' }
import { createDeliveryCall } from '../../host/webhooks/delivery-call.ts'
import { loadApi } from '../../schemas/api.ts'
import apiSource from '../../schemas/api-source.schema.json' with { type: 'json' }
import { createCheck } from '../../schemas/create-check.ts'
import { eventSchemas } from '../../schemas/events.ts'
import manifest from '../../schemas/manifest.schema.json' with { type: 'json' }

// None of them is called: they are looked at.
const none = {} as never
const limits = { timeoutMs: 0, maxBytes: 0, inFlight: 1 }
const calls = [createDeliveryCall(none, none), createTaskCall(none), createFetchCall(none, limits, none)]
const own: [string, object][] = [
  ...Object.entries({ manifest, frames, apiSource }),
  ...calls.map(({ name, args }): [string, object] => [`call ${name}`, args]),
  ...Object.entries(eventSchemas),
  ...Object.entries(loadApi().document.components.schemas ?? {}),
]

test('each of our schemas is valid, as Annex does not check them at the start', () => {
  const ajv = new Ajv2020()
  for (const [name, schema] of own) {
    assert.ok(ajv.validateSchema(schema), `${name}: ${ajv.errorsText(ajv.errors)}`)
  }
  assert.ok(own.length > 10)
  assert.equal(ajv.validateSchema({ ...manifest, required: 'name' }), false)
})

test('schemas for host calls have no unknown keyword', () => {
  for (const { args } of calls) createCheck(args, { strict: true })()
})
