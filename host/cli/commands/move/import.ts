import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import type { Command } from 'commander'
import { messageOf } from '../../../errors/annex-error.ts'
import { UsageError, withExamples } from '../../options.ts'
import type { Installation } from '../../records.ts'
import { openSession } from '../../session.ts'
import { toStatus } from '../../terminal.ts'
import { readPassphrase } from './read-passphrase.ts'

type Options = { passphraseFile?: string; replace?: true }

/** `annex import`: what `annex export` wrote. */
export function addImport(program: Command): void {
  const command = program
    .command('import')
    .description('take in an installation that was exported; `annex resume` starts it')
    .argument('<file>', 'what `annex export` has written')
    .option('--passphrase-file <file>', 'holds what the export is sealed with (else ANNEX_EXPORT_PASSPHRASE)')
    .option('--replace', 'in the place of the same installation, held here since it was exported')
    .action(run)
  withExamples(command, ['annex import webhook.annex --passphrase-file passphrase.txt'])
}

async function run(path: string, options: Options, command: Command): Promise<void> {
  const headers = readPassphrase(options, process.env)
  const file = createReadStream(path)
  const cannotBeRead = (error: unknown) =>
    new UsageError(`The file ${path} cannot be read (${messageOf(error)}).`)
  await once(file, 'open').catch((error) => {
    throw cannotBeRead(error)
  })
  const { terminal, transfer } = openSession(command)
  const to = options.replace ? '/v1/import?replace=true' : '/v1/import'
  const sent = { ...headers, 'content-type': 'application/x-ndjson' }
  const imported = await transfer
    .upload<Installation & { warnings: string[] }>(to, sent, file)
    .catch((error) => {
      // A folder can be opened, and a disk may fail further on: the server is not at fault.
      throw file.errored === null ? error : cannotBeRead(file.errored)
    })
  if (terminal.json) return terminal.printJson(imported)
  const { id, integration, status, warnings } = imported
  terminal.print(`${integration} ${id} `, toStatus(status))
  for (const warning of warnings) terminal.say(warning)
  terminal.say(
    `It is held, with all that it owes. \`annex resume ${id}\` starts it, when it runs nowhere else.`,
  )
}
