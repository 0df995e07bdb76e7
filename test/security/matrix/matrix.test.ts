// tier: wall (a long attack: thousands of requests)

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { SignJWT } from 'jose'
import { isAtLeast, roleNames } from '../../../host/access/roles.ts'
import type { Role } from '../../../host/db/queries/members.ts'
import { loadApi } from '../../../schemas/api.ts'
import type { OperationId } from '../../../schemas/generated/api/operations.ts'
import type { Operation } from '../../../schemas/list-operations.ts'
import { writePlugin } from '../../support/plugin-folder.ts'
import { type Row, rows } from './rows.ts'
import {
  createWorld,
  key,
  type Params,
  plugin,
  type RecordSet,
  type RecordSetName,
  scopes,
  type World,
} from './world.ts'

const { operations } = loadApi()
const closed = operations.filter(({ roles }) => !roles.includes('anyone'))
const rowOf = (operation: Operation): Row => rows[operation.id as OperationId]
const inFlight = 16
/** They send `If-Match`. */
const edits: ReadonlySet<string> = new Set(['PATCH', 'PUT', 'DELETE'])

/** Parameters of a path that may be names. */
const named: ReadonlySet<string> = new Set(['integration', 'org'])

type Answer = { status: number; code: string | undefined; text: string }
type Caller = { name: string; role: string; token?: string; cookie?: string; scopes?: readonly string[] }
/** The answer that a cell must have. */
type Expected = 'allowed' | { status: number; code?: string }
type Cell = {
  operation: Operation
  records: RecordSet
  caller: Caller
  expected: Expected
  inCapitals?: true
}

let world: World
const wrong: string[] = []
const counts = new Map<string, number>()
before(async () => {
  world = await createWorld()
})
after(() => world?.close())

const isRoleOfPerson = (role: string): boolean => roleNames.some((name) => name === role)

/** The parameters of the operation's path that say where a record lies. */
const names = ({ path }: Operation, ...of: string[]): boolean => of.some((name) => path.includes(`{${name}}`))

function recordSetsOf(operation: Operation): RecordSet[] {
  const { own, sibling, foreign, unagreed } = world.recordSets
  if (!operation.path.includes('{') || operation.path === '/v1/tokens/{token}') return [own]
  const isOfOrganization = names(operation, 'org') && !names(operation, 'site')
  if (isOfOrganization) return [own, foreign]
  if (names(operation, 'site', 'space') && !names(operation, 'installation'))
    return [own, sibling, foreign, unagreed]
  return [own, sibling, foreign]
}

/** True when the caller may know that the record is there. */
function isInReach(operation: Operation, records: RecordSetName, { role }: Caller): boolean {
  if (role === 'operator' || records === 'own') return true
  const isIntegration = names(operation, 'integration') && !names(operation, 'installation')
  if (rowOf(operation).isPublic && records === 'sibling') return true
  if (role === 'installation') return false
  if (role === 'integration') return records === 'foreign' && !isIntegration
  return records === 'sibling'
}

function expect(operation: Operation, records: RecordSetName, caller: Caller): Expected {
  if (caller.role === 'none') return { status: 401 }
  // A session has its role by the organization of the path: without a membership it has none.
  const isForeign = records === 'foreign' || records === 'unagreed'
  const isMember = caller.cookie === undefined || caller.role === 'operator' || !isForeign
  if (!isMember && names(operation, 'org')) return { status: 404 }
  if (!operation.roles.some((role) => role === caller.role)) return { status: 403, code: 'forbidden' }
  if (!isInReach(operation, records, caller)) return { status: 404 }
  const { scope } = operation
  if (scope !== undefined && caller.scopes !== undefined && !caller.scopes.includes(scope)) {
    return { status: 403, code: 'missing_scope' }
  }
  return 'allowed'
}

async function ask({ operation, records, caller, expected, inCapitals }: Cell): Promise<Answer> {
  const { method, path, body, bodyExample } = operation
  const row = rowOf(operation)
  const isIntegration = names(operation, 'integration') && !names(operation, 'installation')
  const params: Params = {
    ...records.params,
    ...(isIntegration && records.name === 'foreign' && { integration: 'theirs' }),
    ...row.params,
    ...(row.fresh !== undefined && expected === 'allowed' && (await world.make[row.fresh](records))),
  }
  const given = row.body?.(params, caller.role) ?? bodyExample
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name) => {
    const value = params[name] ?? 'none'
    // An id has an underscore.
    return inCapitals && named.has(name) && !value.includes('_') ? value.toUpperCase() : value
  })
  const query = row.query?.(params, caller.role) ?? ''
  const response = await fetch(world.annex.url + filled + query, {
    method,
    redirect: 'manual',
    headers: {
      ...(caller.token !== undefined && { authorization: `Bearer ${caller.token}` }),
      ...(caller.cookie !== undefined && { cookie: caller.cookie, 'sec-fetch-site': 'same-origin' }),
      ...(edits.has(method) && { 'if-match': '*' }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(given) }),
  })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  if (isStream) await response.body?.cancel()
  const text = isStream ? '' : await response.text()
  const { status } = response
  return { status, text, code: status < 400 ? undefined : /"code":"(\w+)"/.exec(text)?.[1] }
}

function isAsExpected(
  { operation, records, caller, expected }: Cell,
  { status, code, text }: Answer,
): boolean {
  if (expected !== 'allowed') {
    if (code === 'missing_scope' && !text.includes(operation.scope ?? '')) return false
    return status === expected.status && (expected.code === undefined || code === expected.code)
  }
  // A conflict: the call has reached the record, whose state refuses it.
  if (status >= 400 && code !== 'conflict') return false
  const isOurs = caller.role !== 'operator' && caller.role !== 'integration' && records.name !== 'foreign'
  return !isOurs || !world.foreignIds.some((id) => text.includes(id))
}

/** The cells of an operation run together, the operations one after the other: a pause comes before its resume. */
async function run(cells: readonly Cell[], kind: string): Promise<void> {
  for (const ofOperation of Map.groupBy(cells, ({ operation }) => operation).values()) {
    const left = [...ofOperation]
    const work = async () => {
      for (let cell = left.pop(); cell !== undefined; cell = left.pop()) {
        const answer = await ask(cell)
        const result = cell.expected === 'allowed' ? 'allowed' : String(cell.expected.status)
        counts.set(`${kind} ${result}`, (counts.get(`${kind} ${result}`) ?? 0) + 1)
        if (isAsExpected(cell, answer)) continue
        const { operation, records, caller, expected } = cell
        const got = `${answer.status} ${answer.code ?? ''} ${answer.text.slice(0, 200)}`
        wrong.push(`${operation.id} ${records.name} ${caller.name}: ${JSON.stringify(expected)}, but ${got}`)
      }
    }
    // An organization has one installation of an integration at a time.
    const isAlone = left.some(({ operation }) => rowOf(operation).fresh === 'installation')
    await Promise.all(Array.from({ length: isAlone ? 1 : inFlight }, work))
  }
}

const cellsOf = (operation: Operation, recordSets: RecordSet[], callers: Caller[]): Cell[] =>
  recordSets.flatMap((records) =>
    callers.map((caller) => ({
      operation,
      records,
      caller,
      expected: expect(operation, records.name, caller),
    })),
  )

describe('the matrix of the API', () => {
  it('holds for each route, record set and role', async (t) => {
    const people = Object.entries(world.people).map(([role, token]) => ({ name: role, role, token }))
    const scripts = await Promise.all(
      (['installation', 'integration'] as const).map(async (kind) => ({
        ...{ name: kind, role: kind, scopes },
        token: await world.scriptToken({ kind }),
      })),
    )
    const strangers: Caller[] = [
      { name: 'no token', role: 'none' },
      { name: 'forged', role: 'none', token: await sign(Buffer.alloc(32, 8), '1h') },
    ]
    const callers = [...people, ...scripts, ...strangers]
    await run(
      closed.flatMap((operation) => cellsOf(operation, recordSetsOf(operation), callers)),
      'roles',
    )
    report(t, 'roles')
  })

  it('holds for each route, record set and role of a session', async (t) => {
    const callers = Object.entries(world.sessions).map(([role, cookie]) => ({
      ...{ name: `${role} by session`, role, cookie },
    }))
    // The others are of the own account: test/accounts/.
    const ofOrganizations = closed.filter(({ roles }) => roles.some((role) => isRoleOfPerson(role)))
    await run(
      ofOrganizations.flatMap((operation) => cellsOf(operation, recordSetsOf(operation), callers)),
      'sessions',
    )
    report(t, 'sessions')
  })

  it('holds for names in capitals', async (t) => {
    const { reader, operator } = world.people
    const callers = [
      { name: 'reader', role: 'reader', token: reader },
      { name: 'operator', role: 'operator', token: operator },
      {
        name: 'integration',
        role: 'integration',
        scopes,
        token: await world.scriptToken({ kind: 'integration' }),
      },
    ]
    const cells = closed
      .filter((operation) => names(operation, ...named))
      .flatMap((operation) => cellsOf(operation, recordSetsOf(operation), callers))
    await run(
      cells.map((cell) => ({ ...cell, inCapitals: true as const })),
      'capitals',
    )
    report(t, 'capitals')
  })

  it('holds for each route of scripts and each scope', async (t) => {
    const sets = [[], ...scopes.map((scope) => [scope])]
    for (const kind of ['installation', 'integration'] as const) {
      const callers = await Promise.all(
        sets.map(async (given) => ({
          ...{ name: `${kind} with ${given.join() || 'no scope'}`, role: kind, scopes: given },
          token: await world.scriptToken({ kind, scopes: given }),
        })),
      )
      const cells = closed
        .filter(({ roles }) => roles.includes(kind))
        .flatMap((operation) => cellsOf(operation, [world.recordSets.own], callers))
      await run(cells, 'scopes')
    }
    report(t, 'scopes')
  })

  it('refuses tokens that are expired, unsigned, for another purpose or of an unknown installation', async () => {
    const caller = { kind: 'installation', integration: 'asks', installationId: 'inst_none', scopes }
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const known = { ...caller, installationId: world.recordSets.own.params.installation }
    const tokens = {
      expired: await sign(undefined, '-1s'),
      unsigned: `${part({ alg: 'none' })}.${part({ caller: known })}.`,
      'signed by the key of secrets': await sign(key, '1h'),
      'of an installation that is not there': await sign(undefined, '1h', caller),
      empty: '.',
    }
    for (const [name, token] of Object.entries(tokens)) {
      const { status } = await world.annex.api('GET', '/v1/me', undefined, token)
      assert.equal(status, 401, name)
    }
  })

  it('ends a scope at once when the version no longer declares it', async () => {
    const { annex, recordSets } = world
    const path = `/v1/spaces/${recordSets.own.params.space}`
    const token = await world.scriptToken()
    assert.equal((await annex.api('GET', path, undefined, token)).status, 200)
    const fewer = scopes.filter((scope) => scope !== 'space:metadata:read')
    writePlugin(annex.pluginsDir, 'asks', { ...plugin, scopes: fewer })
    const reloaded = await annex.api('POST', '/v1/reload', {})
    assert.equal(reloaded.status, 200, reloaded.text)
    const { status, json } = await annex.api('GET', path, undefined, token)
    assert.deepEqual([status, json.error?.code], [403, 'missing_scope'])
  })

  it('allows each role all operations of the roles below it', () => {
    for (const { id, roles } of closed) {
      const least = roleNames.find((role) => roles.includes(role))
      if (least === undefined) continue
      const missing = roleNames.filter((role: Role) => isAtLeast(role, least) && !roles.includes(role))
      assert.deepEqual(missing, [], id)
    }
  })
})

const report = (t: { diagnostic: (text: string) => void }, kind: string): void => {
  const shown = [...counts].filter(([name]) => name.startsWith(kind)).toSorted()
  t.diagnostic(`${operations.length} routes; ${shown.map(([name, count]) => `${name}: ${count}`).join(', ')}`)
  assert.deepEqual(wrong, [])
}

async function sign(secret: Uint8Array | undefined, end: string, caller?: object): Promise<string> {
  const known = {
    ...{ kind: 'installation', integration: 'asks', scopes },
    installationId: world.recordSets.own.params.installation,
  }
  return new SignJWT({ caller: caller ?? known })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuedAt()
    .setExpirationTime(end)
    .sign(secret ?? world.scriptKey)
}
