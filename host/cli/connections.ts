import type { Command } from 'commander'
import {
  findInstallation,
  findLevel,
  type LevelOptions,
  type LevelRecord,
  paramsOf,
  readLevel,
} from './find-records.ts'
import { describeConnection } from './installations.ts'
import { addLevelOptions, UsageError, withExamples } from './options.ts'
import { openSession, type Session } from './session.ts'

export function addConnections(program: Command): void {
  const connections = program
    .command('connections')
    .description('accept or refuse another account, which a connection has come back as')
  withExamples(connections, [
    'annex connections accept tracker ada@example.com',
    'annex connections refuse tracker account --site sample',
  ])
  const accept = connections
    .command('accept')
    .description('let the script use the account that waits, in place of the one before')
    .argument('<installation>', 'id of the installation, or name of the integration')
    .argument('<account>', 'the account that waits, as `npx annex installations` shows it')
    .argument('[button]', 'name of the setting; may be left out where one account waits')
    .action(
      async (named: string, account: string, button: string | undefined, options: LevelOptions, command) => {
        const { session, params } = await findHeld(named, button, options, command)
        const level = await session.api.call(
          'POST /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connection',
          { params, body: { account } },
        )
        show(session, level, params.property)
      },
    )
  addLevelOptions(accept, (kind) => `connection of this ${kind}`)
  const refuse = connections
    .command('refuse')
    .description('delete the account that waits, with its credentials: the script keeps the one before')
    .argument('<installation>', 'id of the installation, or name of the integration')
    .argument('[button]', 'name of the setting; may be left out where one account waits')
    .action(async (named: string, button: string | undefined, options: LevelOptions, command) => {
      const { session, params } = await findHeld(named, button, options, command)
      const level = await session.api.call(
        'DELETE /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connection',
        { params },
      )
      show(session, level, params.property)
    })
  addLevelOptions(refuse, (kind) => `connection of this ${kind}`)
}

/** @throws UsageError unless a button is named, or the accounts that wait are one */
async function findHeld(named: string, button: string | undefined, options: LevelOptions, command: Command) {
  const session = openSession(command)
  const installation = await findInstallation(session, named, options)
  const params = paramsOf(await findLevel(session, installation, options))
  const property = button ?? onlyHeld(await readLevel(session.api, params))
  return { session, params: { ...params, property } }
}

function onlyHeld({ connections = {} }: LevelRecord): string {
  const waiting = Object.entries(connections).filter(([, { held }]) => held !== undefined)
  // Buttons with one callback address share what is held.
  const accounts = new Set(waiting.map(([, { held }]) => `${held?.at} ${held?.account}`))
  const [first] = waiting
  if (first === undefined) throw new UsageError('No account waits for a yes there.')
  if (accounts.size === 1) return first[0]
  throw new UsageError(`Name a button: ${waiting.map(([name]) => name).join(', ')}.`)
}

function show({ terminal }: Session, level: LevelRecord, name: string): void {
  if (terminal.json) return terminal.printJson(level)
  terminal.print(`${name}: ${describeConnection(level.connections?.[name] ?? { state: 'none' })}`)
}
