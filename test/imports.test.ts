import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseImports } from './support/imports.ts'

/** A room of host/ imports rooms of lower floors, and rooms to its left on its own floor. */
const floors = [
  [
    'errors.ts',
    'assert-json.ts',
    'config',
    'cache.ts',
    'after-changes.ts',
    'side-by-side.ts',
    'unless-aborted.ts',
  ],
  ['db', 'egress', 'access', 'logs'],
  ['manifest', 'bundle', 'versions'],
  ['queue', 'sandbox', 'metrics', 'installations'],
  ['dispatches', 'events', 'places', 'accounts', 'content', 'webhooks'],
  ['http', 'oauth', 'endpoints'],
  ['api', 'console', 'app.ts'],
  ['start', 'server.ts', 'cli'],
]

/** Code in an isolate has neither Node nor the host. A sandbox process has nothing of the host. */
const forbidden = [
  { from: /^runtime\/(sdk|web)\//, to: /^node:|^(host|runtime\/process)\// },
  { from: /^runtime\//, to: /^host\// },
]

const root = fileURLToPath(new URL('..', import.meta.url))
const files = globSync('{host,runtime,schemas,docs}/**/*.{ts,tsx}', { cwd: root })
  .filter((file) => !file.includes('node_modules'))
  .sort()
const imports = files.flatMap((file) => parseImports(readFileSync(join(root, file), 'utf8'), file))

test('each room of host/ imports only rooms below it', () => {
  const order = floors.flat()
  const roomOf = (file: string) => file.split('/')[1] ?? ''
  const rooms = new Set(files.filter((file) => file.startsWith('host/')).map(roomOf))
  assert.deepEqual([...rooms].toSorted(), order.toSorted(), 'each room is on a floor')
  const upward = imports
    .filter(({ from, to }) => from.startsWith('host/') && to.startsWith('host/'))
    .filter(({ from, to }) => order.indexOf(roomOf(to)) > order.indexOf(roomOf(from)))
  assert.deepEqual(upward, [])
})

test('isolates import neither Node nor the host, and sandbox processes nothing of the host', () => {
  const broken = imports.filter((one) =>
    forbidden.some(({ from, to }) => from.test(one.from) && to.test(one.to)),
  )
  assert.deepEqual(broken, [])
})

// A page has the client, too: it has neither Node, nor the host, nor ajv.
test('the client of the API imports generated types alone', () => {
  const ofClient = imports.filter(({ from }) => /^schemas\/(client\.ts$|generated\/)/.test(from))
  assert.notEqual(ofClient.length, 0)
  assert.deepEqual(
    ofClient.filter(({ to }) => !to.startsWith('schemas/generated/')),
    [],
  )
})

test('the browser side of the console imports itself, the client of the API, and no library of the host', () => {
  const ofApp = imports.filter(({ from }) => from.startsWith('host/console/app/'))
  assert.ok(ofApp.length > 100, `${ofApp.length} imports`)
  const own =
    /^(?:host\/console\/app\/|schemas\/(?:client\.ts$|generated\/|(?:list-operations|describe-schema|openapi)\.ts$)|preact(?:\/hooks|-iso)?$|@preact\/signals$)/
  // A signature on http, the feed, charts, texts compared.
  const libraries = /^(?:@noble\/hashes\/|(?:diff|eventsource-parser|uplot)$)/
  assert.deepEqual(
    ofApp.filter(({ to }) => !own.test(to) && !libraries.test(to)),
    [],
  )
  const intoApp = imports.filter(
    ({ from, to }) => to.startsWith('host/console/app/') && !ofApp.some((one) => one.from === from),
  )
  assert.deepEqual(intoApp, [])
})

test('routes are made from the operations of schemas/api alone', () => {
  const users = imports.filter(({ to, isType }) => to === '@koa/router' && !isType).map(({ from }) => from)
  assert.deepEqual(users, ['host/api/router.ts'])
})

test('no files import each other in a cycle, types aside', () => {
  const needs = Map.groupBy(
    imports.filter(({ isType }) => !isType),
    ({ from }) => from,
  )
  const done = new Set<string>()
  const visit = (file: string, path: string[]): void => {
    assert.ok(!path.includes(file), `cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`)
    if (done.has(file)) return
    for (const { to } of needs.get(file) ?? []) visit(to, [...path, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
})
