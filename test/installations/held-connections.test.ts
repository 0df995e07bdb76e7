import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SettingDetails } from '../../host/db/queries/installations.ts'
import type { Level } from '../../host/db/queries/levels.ts'
import { holdOther, takeHeld } from '../../host/installations/held-connections.ts'
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
    assert.throws(() => takeHeld(held, 'one', 'bea'), /The account eve waits there by now/)
    assert.throws(() => takeHeld(held, 'constructor'), /No account waits/)
    const taken = takeHeld(held, 'two', 'eve')
    assert.deepEqual(taken.edit, edit('eve'))
    assert.deepEqual(taken.details, there.settingDetails, 'that of another button still waits')
    assert.throws(
      () => takeHeld({ ...held, settingDetails: taken.details } as Level, 'one'),
      /No account waits/,
    )
  })
})
