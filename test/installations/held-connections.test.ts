import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SettingDetails } from '../../host/db/queries/installations.ts'
import type { Level } from '../../host/db/queries/levels.ts'
import { toConnections } from '../../host/installations/connections.ts'
import { holdOther, takeExpired, takeHeld } from '../../host/installations/held-connections.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'

const button = { type: 'button', callback_url: '/oauth' }
const manifest = {
  configurations: {
    account: {
      properties: {
        one: button,
        two: { ...button, callback_url: '/oauth?two' },
        other: { ...button, callback_url: '/x' },
      },
    },
  },
} as unknown as Manifest
const plain = {} as Manifest

type Details = NonNullable<SettingDetails[string]['connection']>

const level = (connections: Record<string, Details>, more: Partial<Level> = {}): Level =>
  ({
    kind: 'account',
    settingDetails: Object.fromEntries(
      Object.entries(connections).map(([name, connection]) => [name, { connection }]),
    ),
    ...more,
  }) as Level
const edit = (account?: string, callback = '/oauth') => ({
  configuration: { oauth_credentials: { access_token: 'token-of-eve' } },
  connection: { callback, ...(account !== undefined && { account }) },
})
const ada = { since: 1, account: 'ada' }
const namesOf = (held: ReturnType<typeof holdOther>) => held?.names

describe('a connection is held', () => {
  it('for each button with its callback address that has another account', () => {
    const there = level({ one: ada, two: ada, other: ada })
    assert.deepEqual(namesOf(holdOther(manifest, there, edit('eve'), 2)), ['one', 'two'])
    assert.deepEqual(namesOf(holdOther(manifest, level({ two: ada }), edit('eve'), 2)), ['two'])
  })

  it('also where it is broken, and of a level without buttons', () => {
    assert.deepEqual(
      namesOf(holdOther(manifest, level({ one: { ...ada, error: 'ended' } }), edit('eve'), 2)),
      ['one'],
    )
    assert.deepEqual(namesOf(holdOther(plain, level({ oauth_credentials: ada }), edit('eve'), 2)), [
      'oauth_credentials',
    ])
  })

  const notHeld: [string, Level, Parameters<typeof holdOther>[2]][] = [
    ['the same account', level({ one: ada }), edit('ada')],
    ['an account that the script does not name', level({ one: ada }), edit()],
    ['the first account', level({}), edit('eve')],
    ['the first that has a name', level({ one: { since: 1 } }), edit('eve')],
    ['a button with another callback address', level({ other: ada }), edit('eve')],
    ['an edit that connects nothing', level({ one: ada }), { configuration: {} }],
    ['a renewal', level({ one: ada }), { connection: { names: ['one'], step: 'renewed' } }],
    ['a name like a field of each object', level({}), edit('eve', 'constructor')],
  ]
  for (const [what, there, given] of notHeld) {
    it(`and not ${what}`, () => assert.equal(holdOther(manifest, there, given, 2), undefined))
  }

  it('without a credential in the name of its account', () => {
    const held = holdOther(manifest, level({ one: ada }), edit('eve token-of-eve'), 2)
    assert.doesNotMatch(held?.account ?? 'token-of-eve', /token-of-eve/)
  })

  it('until it is taken, once, under all its names', () => {
    const there = level({ one: ada, two: ada, other: { ...ada, held: { account: 'bea', at: 1, edit: {} } } })
    const { details = {} } = holdOther(manifest, there, edit('eve'), 2) ?? {}
    const held = { ...there, settingDetails: details } as Level
    const take = (from: Level, name: string, account?: string) =>
      takeHeld(manifest, from, { name, account, now: 3 })
    assert.throws(() => take(held, 'one', 'bea'), /The account eve waits there by now/)
    assert.throws(() => take(held, 'constructor'), /No account waits/)
    const taken = take(held, 'two', 'eve')
    assert.deepEqual(taken.names, ['one', 'two'])
    assert.deepEqual(taken.edit, edit('eve'))
    assert.deepEqual(taken.details, there.settingDetails, 'that of another button still waits')
    assert.throws(() => take({ ...held, settingDetails: taken.details } as Level, 'one'), /No account waits/)
  })

  const day = 86_400_000
  const waiting = { ...ada, held: { account: 'eve', at: 2, edit: edit('eve') } }
  const take = (there: Level, name: string, now: number) => takeHeld(manifest, there, { name, now }).account

  it('for 24 hours, also by a clock that goes back', () => {
    const there = level({ one: waiting })
    for (const now of [0, 2, day + 1]) {
      assert.equal(take(there, 'one', now), 'eve')
      assert.equal(takeExpired(there.settingDetails, now), undefined)
    }
    for (const now of [day + 2, 9 * day]) {
      assert.throws(() => take(there, 'one', now), /No account waits.*for 24 hours: connect it again/)
      const expired = takeExpired(there.settingDetails, now)
      assert.deepEqual([expired?.names, expired?.account], [['one'], 'eve'])
      assert.deepEqual(expired?.details, level({ one: ada }).settingDetails)
    }
  })

  it('of which only those that have waited too long expire, one after the other', () => {
    const later = { ...ada, held: { account: 'bea', at: 3, edit: {} } }
    const { settingDetails } = level({ one: waiting, two: waiting, other: later, oauth_credentials: ada })
    const first = takeExpired(settingDetails, day + 2)
    assert.deepEqual(first?.names, ['one', 'two'])
    assert.equal(takeExpired(first?.details ?? {}, day + 2), undefined)
    assert.deepEqual(takeExpired(first?.details ?? {}, day + 3)?.names, ['other'])
  })

  it('at each button with its callback address, also at one that is not connected', () => {
    const there = level({ one: waiting }, { configuration: { one: {} } } as never)
    const shown = toConnections(manifest, there, 5) ?? {}
    const held = {
      ...{ account: 'eve', replaces: 'ada' },
      ...{ at: new Date(2).toISOString(), until: new Date(day + 2).toISOString() },
    }
    assert.deepEqual(shown.one?.held, held)
    assert.deepEqual(shown.two, { state: 'none', held })
    assert.deepEqual(shown.other, { state: 'none' })
    assert.equal(take(there, 'two', 5), 'eve')
    assert.throws(() => take(there, 'other', 5), /No account waits/)
    assert.equal(toConnections(manifest, there, day + 2)?.one?.held, undefined, 'expired')
  })
})
