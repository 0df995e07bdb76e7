import { readFileSync } from 'node:fs'
import { UsageError } from '../../options.ts'

/**
 * The header with the passphrase of an export: from `--passphrase-file`, else from ANNEX_EXPORT_PASSPHRASE. Not from the
 * command line, which everybody on the machine sees.
 *
 * @throws UsageError
 */
export function readPassphrase(
  { passphraseFile }: { passphraseFile?: string },
  environment: NodeJS.ProcessEnv,
): Record<string, string> {
  const passphrase =
    passphraseFile === undefined ? environment.ANNEX_EXPORT_PASSPHRASE : readFile(passphraseFile)
  if (passphrase) return { 'annex-passphrase': Buffer.from(passphrase).toString('base64') }
  throw new UsageError(
    'Give the passphrase of the export, 12 characters or more: in a file (--passphrase-file), or in ANNEX_EXPORT_PASSPHRASE.',
  )
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    throw new UsageError(`The file ${path} cannot be read.`)
  }
}
