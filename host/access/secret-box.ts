import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { AnnexError } from '../errors.ts'

/** Encrypts secrets by AES-256-GCM. The key is not in the database. */
export type SecretBox = {
  seal: (secret: string) => string
  /** @throws AnnexError `settings_invalid` when another key sealed it */
  open: (sealed: string) => string
  /** Each purpose has its own key. */
  deriveKey: (purpose: string) => Uint8Array
}

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

const signingKeyBytes = { least: 24, most: 64 }

/**
 * A new signing secret in the form of Standard Webhooks: 190 bits in letters and digits. Some libraries that scripts sign
 * tokens with escape a key as a URL does, and `+` and `/` would make it another key.
 */
export function createSigningSecret(): string {
  const encoded = randomBytes(signingKeyBytes.least).toString('base64')
  return /[+/]/.test(encoded) ? createSigningSecret() : `whsec_${encoded}`
}

/** True for a text with the form and length of Standard Webhooks' signing secrets. */
export function isSigningSecret(text: string): boolean {
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  if (encoded === undefined) return false
  const key = Buffer.from(encoded, 'base64')
  const { least, most } = signingKeyBytes
  return key.length >= least && key.length <= most && key.toString('base64') === encoded
}
