import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { checkConfiguration } from '../../host/manifest/settings/check-configuration.ts'
import { annotations, settingsSchema } from '../../host/manifest/settings/settings-schema.ts'
import { createManifest } from '../bundle/plugin-folder.ts'

test('a level becomes a JSON Schema with titles and descriptions for a form', () => {
  const schema = settingsSchema({
    properties: {
      url: { type: 'string', title: 'Address' },
      team: { type: 'string', completion_url: '/teams' },
      level: { type: 'string', enum: ['low', 'high'], default: 'low' },
      count: { type: 'number', description: 'How many.' },
      loud: { type: 'boolean', default: false },
      oauth: { type: 'button', button_text: 'Connect', callback_url: '/oauth' },
    },
    required: ['url', 'level', 'oauth'],
  })
  assert.deepEqual(schema, {
    type: 'object',
    properties: {
      url: { type: 'string', title: 'Address', minLength: 1, maxLength: 10_000 },
      team: { type: 'string', completion_url: '/teams', maxLength: 10_000 },
      level: { type: 'string', enum: ['low', 'high'], default: 'low' },
      count: {
        ...{ type: 'number', description: 'How many.' },
        ...{ minimum: -9007199254740991, maximum: 9007199254740991 },
      },
      loud: { type: 'boolean', default: false },
      oauth: { button: true, button_text: 'Connect', callback_url: '/oauth', minLength: 1 },
    },
    required: ['url', 'oauth'],
    additionalProperties: false,
  })
  assert.equal(new Ajv2020({ keywords: annotations, strictTypes: false }).validateSchema(schema), true)
})

test('the schema of a component accepts any settings', () => {
  assert.deepEqual(settingsSchema({ componentId: 'settings' }), {
    type: 'object',
    properties: {},
    required: [],
    additionalProperties: true,
    componentId: 'settings',
  })
})

test('a setting with a name of Object.prototype is checked, too', () => {
  const names = ['toString', 'valueOf', 'hasOwnProperty', '__defineGetter__']
  const account = {
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
    required: names,
  }
  const manifest = createManifest({ configurations: { account } })
  const kinds = (given: object) =>
    checkConfiguration(manifest, 'account', given).problems.map(({ path, kind }) => `${path} ${kind}`)
  assert.deepEqual(
    kinds({}),
    names.map((name) => `${name} missing`),
  )
  assert.deepEqual(
    kinds(Object.fromEntries(names.map((name) => [name, 1]))),
    names.map((name) => `${name} invalid`),
  )
  assert.deepEqual(kinds(Object.fromEntries(names.map((name) => [name, 'x']))), [])
})

test('a long text is reported with its length', () => {
  const manifest = createManifest({ configurations: { account: { properties: { a: { type: 'string' } } } } })
  assert.deepEqual(checkConfiguration(manifest, 'account', { a: 'x'.repeat(10_001) }).problems, [
    { path: 'a', message: 'has 10001 characters; at most 10000 are allowed', kind: 'invalid' },
  ])
})

const webhook = createManifest({
  configurations: {
    site: {
      properties: {
        url: { type: 'string', format: 'uri' },
        copy_to: { type: 'string', format: 'uri' },
        views: { type: 'boolean', default: false },
        feedback: { type: 'boolean' },
      },
      required: ['url'],
      requiredAny: ['views', 'feedback'],
    },
  },
})

test('a setting of format uri accepts a web address, and an empty text if it is optional', () => {
  const problemsOf = (url: string, rest: object = {}) =>
    checkConfiguration(webhook, 'site', { url, views: true, ...rest }).problems
  for (const url of [
    'foo',
    'javascript:alert(1)',
    'ftp://a.example',
    '//a.example',
    'https://',
    'https://a b',
  ]) {
    assert.deepEqual(problemsOf(url), [
      {
        path: 'url',
        message: `must be a web address that begins with http:// or https://, found "${url}"`,
        kind: 'invalid',
      },
    ])
  }
  assert.deepEqual(problemsOf('https://a.example/hook?x=1'), [])
  assert.deepEqual(problemsOf('HTTP://a.example', { copy_to: '' }), [])
  assert.deepEqual(problemsOf(''), [{ path: 'url', message: 'is required', kind: 'missing' }])
})

test('one of the settings in requiredAny must be on, and each has the error', () => {
  const problemsOf = (given: object) =>
    checkConfiguration(webhook, 'site', { url: 'https://a.example', ...given }).problems
  const message = 'is required: turn on one of views, feedback'
  const neither = [
    { path: 'views', message, kind: 'missing' },
    { path: 'feedback', message, kind: 'missing' },
  ]
  assert.deepEqual(problemsOf({}), neither)
  assert.deepEqual(problemsOf({ views: false, feedback: false }), neither)
  assert.deepEqual(problemsOf({ feedback: true }), [])
  assert.deepEqual(problemsOf({ views: 'yes' }), [
    { path: 'views', message: 'must be true or false, found "yes"', kind: 'invalid' },
    { path: 'feedback', message, kind: 'missing' },
  ])
})
