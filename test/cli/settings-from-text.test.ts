import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toSettings } from '../../host/cli/configure.ts'
import { UsageError } from '../../host/cli/options.ts'

const declared = {
  text: { type: 'string' },
  limit: { type: 'number' },
  on: { type: 'boolean' },
} as const

test('a value gets the type that the manifest declares', () => {
  assert.deepEqual(toSettings(['text=1=2', 'limit=-1.5e3', 'on=true'], declared), {
    text: '1=2',
    limit: -1500,
    on: true,
  })
  assert.deepEqual(toSettings(['text=true', 'on=false', 'text='], declared), { text: '', on: false })
})

test('a value that cannot be converted is sent as text, so that the server names all mistakes', () => {
  assert.deepEqual(toSettings(['limit=many', 'limit2=1', 'on=yes'], declared), {
    limit: 'many',
    limit2: '1',
    on: 'yes',
  })
  assert.deepEqual(toSettings(['limit='], declared), { limit: '' })
  assert.deepEqual(toSettings(['limit=Infinity'], declared), { limit: 'Infinity' })
})

test('names of Object.prototype are ordinary settings', () => {
  assert.deepEqual(Object.entries(toSettings(['constructor=1', '__proto__=2'], declared)), [
    ['constructor', '1'],
    ['__proto__', '2'],
  ])
})

test('a --set without a name or = is refused', () => {
  for (const pair of ['', '=', '=x', 'x']) assert.throws(() => toSettings([pair], declared), UsageError)
})

test('a number that would be rounded is refused, with either sign', () => {
  const largest = '9007199254740991'
  assert.deepEqual(toSettings([`limit=-${largest}`, 'text=9007199254740993'], declared), {
    limit: -9007199254740991,
    text: '9007199254740993',
  })
  for (const text of ['9007199254740993', '-9007199254740992', '1e300']) {
    assert.throws(
      () => toSettings([`limit=${text}`], declared),
      new UsageError(`--set limit: ${text} is beyond ${largest} and would be rounded.`),
    )
  }
})
