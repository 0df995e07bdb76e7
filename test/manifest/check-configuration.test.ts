import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkConfiguration, withDefaults } from '../../host/manifest/settings/check-configuration.ts'
import { createManifest } from '../bundle/plugin-folder.ts'

const manifest = createManifest({
  configurations: {
    account: {
      properties: {
        url: { type: 'string' },
        level: { type: 'string', enum: ['low', 'high'], default: 'low' },
        count: { type: 'number' },
        loud: { type: 'boolean' },
        oauth: { type: 'button', button_text: 'Connect', callback_url: '/oauth' },
      },
      required: ['url', 'level'],
    },
    site: {
      properties: { oauth: { type: 'button', button_text: 'Connect', callback_url: '/oauth' } },
      required: ['oauth'],
    },
    space: { componentId: 'settings' },
  },
})

const problemsOf = (given: unknown, options = {}) =>
  checkConfiguration(manifest, 'account', given, options).problems

test('each wrong setting is reported once, with the allowed values', () => {
  assert.deepEqual(problemsOf({ urll: 'x', level: 'hig', count: '4', loud: 'yes', oauth: 'token' }), [
    {
      path: 'urll',
      message:
        'there is no setting "urll" for the account; did you mean "url"? settings: url, level, count, loud, oauth',
      kind: 'invalid',
    },
    { path: 'level', message: 'cannot be "hig"; did you mean "high"? allowed: low, high', kind: 'invalid' },
    { path: 'count', message: 'must be a number, found "4"', kind: 'invalid' },
    { path: 'loud', message: 'must be true or false, found "yes"', kind: 'invalid' },
    { path: 'oauth', message: 'is set by connecting, not by hand', kind: 'invalid' },
    { path: 'url', message: 'is required', kind: 'missing' },
  ])
})

test('a setting of other levels gets an error that names them', () => {
  const property = { type: 'string', title: 'Key', description: 'Of the provider' } as const
  const declaring = createManifest({
    configurations: {
      account: { properties: { key: property, toString: property } },
      site: { properties: { key: property } },
      space: { properties: { own: property } },
    },
  })
  const messageOf = (level: 'account' | 'site' | 'space', name: string) =>
    checkConfiguration(declaring, level, { [name]: 'x' }).problems[0]?.message
  assert.equal(
    messageOf('space', 'key'),
    'is no setting of the space: it belongs to the account and the site',
  )
  assert.equal(messageOf('site', 'own'), 'is no setting of the site: it belongs to the space')
  assert.equal(messageOf('site', 'toString'), 'is no setting of the site: it belongs to the account')
  assert.equal(messageOf('account', 'key'), undefined)
  assert.match(messageOf('space', 'constructor') ?? '', /^there is no setting "constructor" for the space; /)
})

test('valid settings have no problem, and defaults fill missing ones', () => {
  assert.deepEqual(problemsOf({ url: 'https://a.example' }), [])
  assert.deepEqual(problemsOf({ url: 'x', level: 'high', count: -1.5, loud: false }), [])
  assert.deepEqual(withDefaults(manifest, 'account', { url: 'x' }), { url: 'x', level: 'low' })
  assert.deepEqual(withDefaults(manifest, 'account', { level: 'high' }), { level: 'high' })
})

test('a number that JSON would round is refused', () => {
  assert.deepEqual(problemsOf({ url: 'x', count: Number.MAX_SAFE_INTEGER }), [])
  for (const text of ['9007199254740993', '-1e300']) {
    const [problem] = problemsOf({ url: 'x', count: JSON.parse(text) })
    assert.match(problem?.message ?? '', /^must lie within ±9007199254740991, found -?\d/)
  }
})

test('an empty text does not fill a required setting', () => {
  assert.deepEqual(problemsOf({ url: '' }), [{ path: 'url', message: 'is required', kind: 'missing' }])
})

test('a configuration that is not a map is one error', () => {
  for (const given of [null, [], 'x', 5, undefined]) {
    assert.deepEqual(
      problemsOf(given).map(({ path, kind }) => [path, kind]),
      [['', 'invalid']],
    )
  }
})

test('names of Object.prototype are not settings', () => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const given = JSON.parse(`{"url":"x","${name}":"y"}`)
    assert.deepEqual(
      problemsOf(given).map(({ path }) => path),
      [name],
    )
  }
})

test('a configuration that is too large is one error, for installers and integrations', () => {
  const given = { url: 'x'.repeat(70_000) }
  for (const by of ['installer', 'integration']) {
    assert.deepEqual(problemsOf(given, { by }), [
      { path: '', message: 'the configuration has more than 65536 characters as JSON', kind: 'invalid' },
    ])
  }
})

test('a connection survives an edit by the installer, and only the integration writes it', () => {
  const stored = { oauth: { access_token: 't' } }
  const edit = checkConfiguration(manifest, 'account', { url: 'y' }, { stored })
  assert.deepEqual(edit, { configuration: { url: 'y', ...stored }, problems: [] })
  assert.deepEqual(problemsOf({ url: 'y', oauth: { access_token: 't' } }, { stored }), [])
  assert.equal(problemsOf({ url: 'y', oauth: { access_token: 'other' } }, { stored })[0]?.kind, 'invalid')
  const written = checkConfiguration(
    manifest,
    'account',
    { url: 'y', oauth: { access_token: 'new' }, team: 1 },
    { by: 'integration', stored },
  )
  assert.deepEqual(written, {
    configuration: { url: 'y', oauth: { access_token: 'new' }, team: 1 },
    problems: [],
  })
})

test('a required connection is missing until it is made', () => {
  const missing = [{ path: 'oauth', message: 'is required: connect first', kind: 'missing' }]
  assert.deepEqual(checkConfiguration(manifest, 'site', {}).problems, missing)
  assert.deepEqual(checkConfiguration(manifest, 'site', {}, { stored: { oauth: {} } }).problems, [])
})

test('a component accepts any settings, and an undeclared level accepts none', () => {
  assert.deepEqual(checkConfiguration(manifest, 'space', { any: 1 }).problems, [])
  assert.deepEqual(checkConfiguration(createManifest(), 'site', {}).problems, [])
  assert.match(
    checkConfiguration(createManifest(), 'site', { a: 1 }).problems[0]?.message ?? '',
    /there is no setting "a" for the site; settings: none/,
  )
})
