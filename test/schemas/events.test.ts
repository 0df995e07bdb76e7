import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { type EventType, eventSchemas, publishableEventTypes, toPublishSchema } from '../../schemas/events.ts'
import statuses from '../../schemas/installation-status.schema.json' with { type: 'json' }
import type { Json } from '../support/annex.ts'

// ajv-formats is CommonJS, so its default export is the module where types say the function.
const formats = addFormats as unknown as typeof addFormats.default
const ajv = new Ajv2020({ strict: true, allErrors: true })
formats(ajv)

const visitor = { anonymousId: 'a', userAgent: 'b', ip: '192.0.2.1', cookies: {} }
const page = { visitor, url: 'https://docs.example/a', referrer: 'https://search.example/' }
const head = { eventId: 'evt_1', installationId: 'inst_1' }

const previous = { status: 'active', configuration: { a: 1 } }

const examples: Record<EventType, object> = {
  space_content_updated: { ...head, type: 'space_content_updated', spaceId: 's', revisionId: 'r' },
  space_visibility_updated: {
    ...head,
    type: 'space_visibility_updated',
    spaceId: 's',
    visibility: 'public',
    previousVisibility: 'private',
  },
  site_view: { ...head, type: 'site_view', siteId: 's', ...page },
  page_feedback: {
    ...head,
    type: 'page_feedback',
    siteId: 's',
    spaceId: 's',
    pageId: 'p',
    feedback: { rating: 'good', comment: '' },
    ...page,
  },
  installation_setup: { ...head, type: 'installation_setup', status: 'pending' },
  space_installation_setup: {
    ...head,
    type: 'space_installation_setup',
    spaceId: 's',
    status: 'active',
    previous,
  },
  site_installation_setup: { ...head, type: 'site_installation_setup', siteId: 's', status: 'active' },
  installation_deleted: { ...head, type: 'installation_deleted', previous },
  space_installation_deleted: { ...head, type: 'space_installation_deleted', spaceId: 's', previous },
  site_installation_deleted: { ...head, type: 'site_installation_deleted', siteId: 's', previous },
}

for (const [type, schema] of Object.entries(eventSchemas)) {
  const example = examples[type as EventType]

  test(`${type}: exactly the fields of the contract are accepted`, () => {
    const validate = ajv.getSchema(schema.$id) ?? ajv.compile(schema)
    assert.ok(validate(example), JSON.stringify(validate.errors))
    assert.ok(!validate({ ...example, more: 1 }))
    for (const field of schema.required) {
      const { [field as keyof typeof example]: _, ...without } = example
      assert.ok(!validate(without), `${field} is not required`)
    }
  })
}

test('an organization publishes three kinds of events', () => {
  assert.deepEqual([...publishableEventTypes], ['space_content_updated', 'site_view', 'page_feedback'])
})

for (const type of publishableEventTypes) {
  test(`${type} needs no installation and no eventId when it is published`, () => {
    const validate = ajv.compile(toPublishSchema(eventSchemas[type]))
    const { installationId, ...published } = examples[type] as Record<string, unknown>
    const { eventId: _, ...withoutId } = published
    assert.ok(validate(published))
    assert.ok(validate(withoutId))
    assert.ok(!validate({ ...published, installationId }), 'a sender may name an installation')
  })
}

test('the schema for publishing leaves the original unchanged', () => {
  const before = structuredClone(eventSchemas.site_view)
  toPublishSchema(eventSchemas.site_view)
  assert.deepEqual(eventSchemas.site_view, before)
})

test('a last event may have each status of an installation', () => {
  for (const type of [
    'installation_deleted',
    'space_installation_deleted',
    'site_installation_deleted',
  ] as const) {
    const { previous } = eventSchemas[type].properties as Record<string, Json>
    assert.deepEqual(previous.properties.status.enum, statuses.enum)
  }
})

test('a setup event may have each status of an installation, now and before', () => {
  for (const type of ['installation_setup', 'space_installation_setup', 'site_installation_setup'] as const) {
    const { status, previous } = eventSchemas[type].properties as Record<string, Json>
    assert.deepEqual(status.enum, statuses.enum)
    assert.deepEqual(previous.properties.status.enum, statuses.enum)
  }
})
