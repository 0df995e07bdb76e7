import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseContentSecurityPolicy } from '../../host/manifest/checks/content-security-policy.ts'
import { normalizeManifest } from '../../host/manifest/normalize-manifest.ts'
import { createManifest } from '../bundle/plugin-folder.ts'

test('a normalized manifest has its lists, one name for a category, and a policy as a map', () => {
  const normal = normalizeManifest(
    createManifest({
      name: 'Sample',
      categories: ['visitor-auth', 'authenticated-access'],
      contentSecurityPolicy: `img-src *`,
    }),
  )
  assert.equal(normal.name, 'Sample')
  assert.deepEqual(normal.categories, ['authenticated-access'])
  assert.deepEqual(
    [normal.externalLinks, normal.blocks, normal.previewImages, normal.target],
    [[], [], [], 'all'],
  )
  assert.deepEqual(normal.contentSecurityPolicy, { 'img-src': '*' })
})

test('a policy may be text with semicolons, with line breaks, with both, or a map', () => {
  const expected = { 'default-src': "'self'", 'img-src': 'https: a.example' }
  const policies: (string | Record<string, string>)[] = [
    "default-src 'self'; img-src https: a.example",
    "default-src 'self'\nimg-src https: a.example\n",
    "default-src\n  'self';\n\nimg-src https:\n  a.example;",
    { 'default-src': "'self'", 'img-src': 'https:\n a.example' },
    { 'default-src': "'self';\n", 'img-src': '\n https:\n  a.example\n;\n' },
    { 'default-src': "'self'; img-src https:; img-src a", 'img-src': 'https: a.example' },
    { 'default-src': "'self'; img-src https: a.example" },
  ]
  for (const policy of policies) assert.deepEqual(parseContentSecurityPolicy(policy), expected)
})

test('sources that each end with a semicolon belong to one directive', () => {
  const expected = {
    'script-src': 'https://cdn.example',
    'connect-src': "a.example *.b.example 'self' data:",
  }
  const sources = "a.example;\n*.b.example;\n'self'; data:;\n"
  const policies: (string | Record<string, string>)[] = [
    { 'script-src': 'https://cdn.example;\n', 'connect-src': sources },
    `script-src https://cdn.example;\nconnect-src ${sources}`,
    `script-src https://cdn.example\nconnect-src\n${sources}`,
  ]
  for (const policy of policies) assert.deepEqual(parseContentSecurityPolicy(policy), expected)
  assert.deepEqual(parseContentSecurityPolicy({ 'img-src': 'a.example; script-src b.example; c.example' }), {
    'img-src': 'a.example',
    'script-src': 'b.example c.example',
  })
})

test('a key of a map is the name of a directive, for any value', () => {
  const policy = { 'img-src': 'a.example', 'b.example': 'c.example', localhost: '*' }
  assert.deepEqual(parseContentSecurityPolicy(policy), { 'img-src': 'a.example' })
})

test('the first of two equal directives counts, as in browsers', () => {
  assert.deepEqual(parseContentSecurityPolicy('img-src a.example; IMG-SRC *'), { 'img-src': 'a.example' })
})

test('a directive with a name of Object.prototype is ignored', () => {
  assert.deepEqual(parseContentSecurityPolicy('__proto__ x; constructor y'), {})
})
