import assert from 'node:assert/strict'
import { test } from 'node:test'
import schema from '../../schemas/manifest.schema.json' with { type: 'json' }

type Node = { [keyword: string]: unknown }

/** Every subschema that describes a value, with its path. */
function* subschemas(node: Node, path = '#'): Generator<[string, Node]> {
  for (const group of ['properties', '$defs']) {
    const members = (node[group] ?? {}) as Record<string, Node>
    for (const [name, member] of Object.entries(members)) {
      yield [`${path}/${group}/${name}`, member]
      yield* subschemas(member, `${path}/${group}/${name}`)
    }
  }
}

test('each field and definition of the manifest has a description', () => {
  const overrides = '#/$defs/overrides/properties/'
  for (const [path, node] of subschemas(schema)) {
    if (path.startsWith(overrides)) continue
    assert.ok(typeof node.description === 'string' && node.description !== '', `${path} has no description`)
  }
})

test('each map of the manifest limits its values', () => {
  for (const [path, node] of subschemas(schema)) {
    if (node.type === 'object' && path !== '#/$defs/property') {
      assert.ok('additionalProperties' in node, `${path} takes anything`)
      assert.notEqual(node.additionalProperties, true)
    }
  }
})

test('scopes, categories and visibility match the contract and its extension', () => {
  assert.equal(schema.$defs.scope.enum.length, 17)
  assert.deepEqual(schema.$defs.category.enum, [
    'analytics',
    'collaboration',
    'content',
    'marketing',
    'authenticated-access',
    'visitor-auth',
    'other',
  ])
  assert.deepEqual(schema.required, ['name', 'title', 'description', 'organization', 'visibility', 'scopes'])
  assert.equal(schema.properties.summary.maxLength, 2048)
})
