import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../access/secret-box.ts'
import { hashOf } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { useChallenge } from '../db/queries/passkeys.ts'

export type Purpose = 'sign_in' | 'register'

/**
 * Challenges of WebAuthn that are signed, so that a stranger's request stores nothing. Those that were used are stored, until
 * they would have ended.
 */
export type Challenges = {
  create: (purpose: Purpose, host: string) => Buffer<ArrayBuffer>
  isValid: (challenge: string, purpose: Purpose, host: string) => boolean
  /** @returns false for a challenge that was used before */
  use: (transaction: Db, challenge: string) => Promise<boolean>
}

export const challengeMs = 5 * 60 * 1000
const [timeBytes, nonceBytes, macBytes] = [6, 16, 32]

export function createChallenges(box: Pick<SecretBox, 'deriveKey'>): Challenges {
  const key = box.deriveKey('challenges of passkeys')
  const sign = (head: Buffer, purpose: Purpose, host: string) =>
    createHmac('sha256', key).update(head).update(`${purpose} ${host}`).digest()
  const endOf = (challenge: Buffer) => challenge.readUIntBE(0, timeBytes)
  return {
    create(purpose, host) {
      const time = Buffer.alloc(timeBytes)
      time.writeUIntBE(Date.now() + challengeMs, 0, timeBytes)
      const head = Buffer.concat([time, randomBytes(nonceBytes)])
      return Buffer.concat([head, sign(head, purpose, host)])
    },
    isValid(text, purpose, host) {
      const challenge = Buffer.from(text, 'base64url')
      if (challenge.length !== timeBytes + nonceBytes + macBytes) return false
      const head = challenge.subarray(0, timeBytes + nonceBytes)
      const isOurs = timingSafeEqual(challenge.subarray(head.length), sign(head, purpose, host))
      return isOurs && endOf(challenge) > Date.now()
    },
    use(transaction, text) {
      const challenge = Buffer.from(text, 'base64url')
      // Base64 has several spellings of the same bytes.
      return useChallenge(transaction, hashOf(challenge.toString('base64url')), endOf(challenge))
    },
  }
}
