import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Integration } from '../../host/cli/api/records.ts'
import { type PendingLevel, sayPending } from '../../host/cli/commands/installations/say-pending.ts'
import { createTerminal } from '../../host/cli/terminal/terminal.ts'
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

test('an account with nothing required has to be confirmed once', () => {
  const account = { properties: { go: button, region: text }, required: [] }
  assert.equal(
    said({ account: settingsSchema(account) }, { kind: 'account', configuration: {} }),
    'Confirm the settings of the account once: annex configure stats --set region=…; no events until then.\n',
  )
})

test('a site names the required settings that it lacks, and only those', () => {
  const site = { properties: { a: text, b: text, c: text }, required: ['a', 'b'] }
  assert.equal(
    said({ site: settingsSchema(site) }, { kind: 'site', place: 'sample', configuration: { a: 'x' } }),
    'The site sample lacks the settings b: annex configure stats --site sample --set b=…\nNo events until then.\n',
  )
})

test('a level without settings waits for its setup event, and says nothing of settings', () => {
  assert.match(said({}, { kind: 'account', configuration: {} }), /setup event: annex logs stats/)
})

test('a level whose only settings are buttons does not name a command that cannot work', () => {
  const account = { properties: { go: button }, required: [] }
  assert.doesNotMatch(
    said({ account: settingsSchema(account) }, { kind: 'account', configuration: {} }),
    /--set/,
  )
})
