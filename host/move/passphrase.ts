import { createHmac, type Hmac, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { createSecretBox, type SecretBox } from '../access/secret-box.ts'
import { AnnexError } from '../errors/annex-error.ts'

/** What a passphrase opens: the sealed parts of one export, and the proof that nobody has changed a line of it. */
export type ExportKey = { box: Pick<SecretBox, 'seal' | 'open'>; createProof: () => Hmac }

const leastPassphrase = 12
const mostPassphrase = 1_000

/**
 * 128 MiB and half a second for each guess (RFC 7914; the costs that OWASP names). Not in the file: one that somebody else
 * wrote must not say how much memory a host takes.
 */
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }

const derive = promisify<string, Uint8Array, number, typeof cost, Buffer>(scrypt)

/** @throws AnnexError `bad_request` for a passphrase of fewer than 12 characters, or more than 1,000 */
export function assertPassphrase(passphrase: string): void {
  if (passphrase.length >= leastPassphrase && passphrase.length <= mostPassphrase) return
  throw new AnnexError(
    'bad_request',
    `The passphrase of an export has ${leastPassphrase} to ${mostPassphrase} characters: it protects signing secrets.`,
  )
}

export async function openPassphrase(passphrase: string, salt: Uint8Array): Promise<ExportKey> {
  const box = createSecretBox(await derive(passphrase.normalize('NFC'), salt, 32, cost))
  const proofKey = box.deriveKey('lines of an export')
  return { box, createProof: () => createHmac('sha256', proofKey) }
}
