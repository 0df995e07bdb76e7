import type { Command } from 'commander'
import { describeSetting } from '../config/setting.ts'
import { type SettingName, settingsTable } from '../config/settings-table.ts'
import { withExamples } from './options.ts'
import { openTerminal } from './session.ts'
import { readSettings } from './surroundings.ts'
import { printTable } from './terminal.ts'

export function addConfig(program: Command): void {
  const command = program
    .command('config')
    .description('print every setting with its value, source and meaning; secrets are masked')
    .option('--print', 'the same: the command only prints')
    .action((_options: object, command: Command) => printSettings(command))
  withExamples(command, ['annex config --print', 'annex config --print --json'])
}

/** @throws AnnexError `settings_invalid` */
function printSettings(command: Command): void {
  const terminal = openTerminal(command)
  const { settings, sources } = readSettings(command)
  const names = Object.keys(settingsTable) as SettingName[]
  const rows = names.map((name) => {
    const meaning = describeSetting(settingsTable[name])
    const shown = isSecret(name) && settings[name] !== '' ? '********' : settings[name]
    return { name, value: shown, source: sources[name], kind: settingsTable[name].kind, meaning }
  })
  if (terminal.json) return terminal.printJson(rows)
  printTable(
    terminal,
    ['setting', 'value', 'source', 'meaning'],
    rows.map(({ name, value, source, meaning }) => [name, toText(value), source, meaning]),
  )
}

const isSecret = (name: SettingName): boolean => 'secret' in settingsTable[name]

const toText = (value: string | number | boolean | string[] | number[]): string =>
  Array.isArray(value) ? value.join(',') : String(value)
