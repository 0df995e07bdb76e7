import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseRest, pathOf } from '../../host/console/app/level-address.ts'
import {
  ownValue,
  parseNumber,
  problemOf,
  toSettings,
} from '../../host/console/app/parts/settings/settings.ts'
import { settingsSchema } from '../../host/manifest/settings/settings-schema.ts'

describe('the form of a JSON Schema', () => {
  it('has a control for each kind of setting of a manifest', () => {
    const schema = settingsSchema({
      properties: {
        text: { type: 'string', title: 'Text', default: 'a' },
        address: { type: 'string', format: 'uri' },
        secret: { type: 'string', secret: true },
        choice: { type: 'string', enum: ['', 'b'] },
        some: { type: 'string', enum: ['b'], completion_url: '/some' },
        script: { type: 'string', completion_url: '/all' },
        number: { type: 'number', default: 0 },
        toggle: { type: 'boolean', default: false },
        button: { type: 'button', button_text: 'Connect', callback_url: '/oauth' },
        constructor: { type: 'string' as const },
      },
      required: ['text', 'address'],
    })
    const settings = toSettings({ ...schema })
    assert.deepEqual(
      settings.map(({ name, kind }) => `${name} ${kind}`),
      [
        ...['text text', 'address address', 'secret secret', 'choice choice', 'some script-choice'],
        ...['script script-choice', 'number number', 'toggle toggle', 'button button', 'constructor text'],
      ],
    )
    assert.deepEqual(
      settings.filter(({ isRequired }) => isRequired).map(({ name }) => name),
      ['address'],
    )
    assert.deepEqual(settings[3]?.choices, ['', 'b'])
    assert.deepEqual([settings[6]?.default, settings[7]?.default], [0, false])
    assert.deepEqual(toSettings({}), [])
  })

  it('takes no value from the prototype', () => {
    assert.equal(ownValue({}, 'constructor'), undefined)
    assert.equal(ownValue({ constructor: 'own' }, 'constructor'), 'own')
    assert.equal(problemOf([{ path: '/configuration/a', message: 'is required' }], 'a'), 'is required')
    assert.equal(problemOf(undefined, 'a'), undefined)
  })

  const numbers = { '0': 0, ' 1.5 ': 1.5, '-2': -2, '+3': 3, '.5': 0.5, '5.': 5, '1e3': 1000, '1E-2': 0.01 }
  for (const [text, number] of Object.entries(numbers)) {
    it(`reads ${text} as a number`, () => assert.equal(parseNumber(text), number))
  }
  const others = [
    '',
    ' ',
    '1,5',
    '1 000',
    '1_000',
    '0x10',
    '0b1',
    'Infinity',
    '1e999',
    'NaN',
    '--1',
    '1.2.3',
    '٣',
    '.',
  ]
  for (const text of others) {
    it(`reads ${JSON.stringify(text)} as no number`, () => assert.equal(parseNumber(text), undefined))
  }
})

describe('the address of an installation', () => {
  const of = { org: 'acme', installation: 'inst_1' }
  const cases = [
    ['', undefined, ''],
    ['connection', undefined, 'connection'],
    ['sites/site_1', { kind: 'site', id: 'site_1' }, ''],
    ['sites/site_1/log', { kind: 'site', id: 'site_1' }, 'log'],
    ['spaces/space_1/connection', { kind: 'space', id: 'space_1' }, 'connection'],
  ] as const
  for (const [rest, place, tab] of cases) {
    it(`has the level and the part: ${rest}`, () => {
      const parsed = parseRest(rest)
      assert.deepEqual([parsed.place, parsed.tab], [place, tab])
      assert.equal(
        pathOf({ ...of, place: parsed.place }, tab),
        `/orgs/acme/installations/inst_1${rest && `/${rest}`}`,
      )
    })
  }
})
