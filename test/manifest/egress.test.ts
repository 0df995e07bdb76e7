import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkSchema } from '../../host/manifest/checks/check-schema.ts'

const manifest = (egress: unknown) => ({
  name: 'stats',
  title: 'Stats',
  description: 'Counts.',
  organization: 'home',
  visibility: 'public',
  scopes: [],
  script: './index.ts',
  egress,
})

const good = [
  'api.example.com',
  '*.example.com',
  'localhost',
  'localhost:3000',
  '127.0.0.1:8787',
  'a_b.example',
]
const bad = [
  'https://a.example',
  'a.example/',
  '*',
  '*.com',
  'a.*.example',
  'a b',
  '-a.example',
  '',
  'a.example:',
  'a:x',
  'ä.example',
  '[::1]',
]

describe('"egress" of a manifest', () => {
  for (const host of good) it(`may hold ${host}`, () => assert.deepEqual(checkSchema(manifest([host])), []))
  for (const host of bad) {
    it(`may not hold "${host}", and says what is expected`, () => {
      const [finding] = checkSchema(manifest([host]))
      assert.equal(finding?.pointer, '/egress/0')
      assert.match(JSON.stringify(finding), /api\.example\.com/)
    })
  }
})
