import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PendingLevel, sayPending } from '../../host/cli/installations.ts'
import type { Integration } from '../../host/cli/records.ts'
import { createTerminal } from '../../host/cli/terminal.ts'
import { settingsSchema } from '../../host/manifest/settings/settings-schema.ts'

const text = { type: 'string', title: 'Text', description: 'Text' } as const
const button = {
  type: 'button',
  title: 'Go',
  description: 'Go',
  button_text: 'Go',
  callback_url: '/go',
} as const

function said(configurations: Integration['configurations'], level: PendingLevel): string {
  let written = ''
  const stderr = {
    write(line: string | Uint8Array) {
      written += String(line)
      return true
    },
  }
  const stdout = { write: () => assert.fail('nothing of this is data') }
  sayPending(createTerminal({ stdout, stderr, env: {} }), { name: 'stats', configurations }, level)
  return written
}

test('a pending site shows each wrong setting, and one command that sets exactly these', () => {
  const site = { properties: { a: text, b: text, c: text }, required: ['a', 'b'] }
  const problems = [
    { path: 'b', message: 'is required' },
    { path: 'c', message: 'must be text, found 3' },
  ]
  assert.equal(
    said({ site: settingsSchema(site) }, { kind: 'site', place: 'sample', problems }),
    [
      'The site sample is pending and gets no events. Its settings are not complete:',
      '  b: is required',
      '  c: must be text, found 3',
      'npx annex configure stats --site sample --set b=… --set c=…',
      '',
    ].join('\n'),
  )
})

test('a pending level with complete settings waits for its setup event', () => {
  const account = { properties: { region: text }, required: [] }
  assert.match(
    said({ account: settingsSchema(account) }, { kind: 'account' }),
    /^The account waits for its setup event: npx annex logs stats\n$/,
  )
})

test('a pending level with complete settings shows its reason', () => {
  const statusReason = 'Its settings come from the component "config".'
  assert.equal(
    said({}, { kind: 'site', place: 'sample', statusReason }),
    `The site sample is pending. ${statusReason}\n`,
  )
})

test('a required button shows the command that connects it', () => {
  const account = { properties: { go: button }, required: ['go'] }
  const problems = [{ path: 'go', message: 'is required: connect first' }]
  const written = said({ account: settingsSchema(account) }, { kind: 'account', problems })
  assert.match(written, /npx annex connect stats go\n/)
  assert.doesNotMatch(written, /--set/)
})
