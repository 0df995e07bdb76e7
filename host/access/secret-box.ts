import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AnnexError } from '../errors/annex-error.ts'
import { createDurably } from './create-durably.ts'

/** Keeps secrets readable for this Annex alone: AES-256-GCM under a key that is not in the database. */
export type SecretBox = {
  seal: (secret: string) => string
  /** @throws AnnexError `settings_invalid` when the key is not the one that sealed it */
  open: (sealed: string) => string
  /** A key for another purpose, so that no key serves two. */
  deriveKey: (purpose: string) => Uint8Array
}

export const keyBytes = 32
const keyFile = 'secret.key'
const nonceBytes = 12
const tagBytes = 16

export function createSecretBox(key: Uint8Array): SecretBox {
  return {
    seal(secret) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes))
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
      try {
        const secret = bytes.subarray(nonceBytes + tagBytes)
        return Buffer.concat([decipher.update(secret), decipher.final()]).toString('utf8')
      } catch (cause) {
        throw new AnnexError(
          'settings_invalid',
          'A stored secret cannot be decrypted: the key (SECRET_KEY, or secret.key in DATA_DIR) is not the one that encrypted it.',
          { cause },
        )
      }
    },
    deriveKey: (purpose) => createHmac('sha256', key).update(purpose).digest(),
  }
}

/**
 * The key from the setting, else from `secret.key` in the data folder.
 *
 * @throws AnnexError `settings_invalid` when it is not 32 bytes in base64
 */
export function readSecretKey(setting: string, dataDir: string): Uint8Array | undefined {
  const path = join(dataDir, keyFile)
  const text = setting !== '' ? setting : readKeyFile(path)
  if (text === undefined) return undefined
  const key = Buffer.from(text, 'base64')
  if (key.length === keyBytes) return key
  const where = setting !== '' ? 'SECRET_KEY' : path
  throw new AnnexError(
    'settings_invalid',
    `${where} is not 32 bytes in base64. Make one with: openssl rand -base64 32`,
  )
}

function readKeyFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Of two processes that start at once, one stores its key and the other fails rather than replace it. */
export function storeSecretKey(dataDir: string, key: Uint8Array): void {
  mkdirSync(dataDir, { recursive: true })
  createDurably(join(dataDir, keyFile), `${Buffer.from(key).toString('base64')}\n`)
}

const signingKeyBytes = { least: 24, most: 64 }

/** A signing secret, as its holder gets to see it, in the form of Standard Webhooks. */
export const createSigningSecret = (): string =>
  `whsec_${randomBytes(signingKeyBytes.least).toString('base64')}`

/** Whether a text has the form of a signing secret, and is as long as Standard Webhooks asks for. */
export function isSigningSecret(text: string): boolean {
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  if (encoded === undefined) return false
  const key = Buffer.from(encoded, 'base64')
  const { least, most } = signingKeyBytes
  return key.length >= least && key.length <= most && key.toString('base64') === encoded
}
