import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { AnnexError, messageOf } from '../../../errors/annex-error.ts'
import { toPath } from '../../client.ts'
import { findInstallation, type TargetOptions } from '../../find-records.ts'
import { UsageError, withExamples } from '../../options.ts'
import { openSession } from '../../session.ts'
import { openDraft } from './open-draft.ts'
import { readPassphrase } from './read-passphrase.ts'

type Options = TargetOptions & { output?: string; passphraseFile?: string }

/** `annex export`: an installation with all that it owes, to be imported into another Annex. It is held from then on. */
export function addExport(program: Command): void {
  const command = program
    .command('export')
    .description(
      'write an installation with its history and all that it owes to a file; it is held from then on',
    )
    .argument('<installation>', 'id of the installation, or name of the integration')
    .option('--org <name>', 'organization: id or subdomain')
    .option('-o, --output <file>', 'where to; else stdout')
    .option('--passphrase-file <file>', 'holds what the export is sealed with (else ANNEX_EXPORT_PASSPHRASE)')
    .action(run)
  withExamples(command, ['annex export webhook --output webhook.annex --passphrase-file passphrase.txt'])
}

async function run(named: string, options: Options, command: Command): Promise<void> {
  const { output } = options
  const headers = readPassphrase(options, process.env)
  if (output === undefined && process.stdout.isTTY) throw new UsageError('Say where to with --output.')
  const session = openSession(command)
  const { id, integration } = await findInstallation(session, named, options)
  // Before anything is held for it.
  await using draft = output === undefined ? undefined : await openDraft(output)
  const lines = await session.transfer.download(toPath`/v1/installations/${id}/export`, headers)
  const tail = createTail()
  try {
    await pipeline(lines, tail.stream, draft?.file ?? process.stdout, { end: draft !== undefined })
    assertWhole(tail.lastLine())
    await draft?.keep()
  } catch (error) {
    const next = `It is held here: export it again, or let it go on with \`annex resume ${id}\`.`
    const text = `The export of ${id} is not whole (${messageOf(error)}). ${next}`
    throw new AnnexError('unavailable', text, { cause: error })
  }
  const { terminal } = session
  terminal.say(
    `${integration} ${id} is exported. It is held here: nothing of it runs, and nothing is sent. Import it elsewhere, with the same passphrase`,
  )
  const { passphraseFile } = options
  const sealedWith = passphraseFile === undefined ? '' : `--passphrase-file ${passphraseFile} `
  terminal.say(`  annex import ${sealedWith}${output ?? 'FILE'}`)
  terminal.say(
    `or let it go on here with \`annex resume ${id}\`. Never both: what it owes would be sent twice.`,
  )
}

const longestEnd = 4_096

/** Keeps the end of what passes through. */
function createTail(): { stream: Transform; lastLine: () => string } {
  let end: Buffer = Buffer.alloc(0)
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      end = Buffer.concat([end, chunk]).subarray(-longestEnd)
      done(null, chunk)
    },
  })
  return { stream, lastLine: () => end.toString('utf8').trimEnd().split('\n').at(-1) ?? '' }
}

function assertWhole(lastLine: string): void {
  const { record, message } = toObject(lastLine)
  if (record === 'end') return
  throw new Error(typeof message === 'string' ? message : 'the server broke off')
}

function toObject(line: string): { record?: unknown; message?: unknown } {
  try {
    return Object(JSON.parse(line))
  } catch {
    return {}
  }
}
