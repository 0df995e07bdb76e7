import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Db } from '../db/db.ts'
import { isDuplicate } from '../db/errors.ts'
import { createId } from '../db/ids.ts'
import {
  countPasskey,
  findPasskey,
  insertPasskey,
  listPasskeys,
  type Passkey,
} from '../db/queries/passkeys.ts'
import { AnnexError, messageOf } from '../errors.ts'
import { type Challenges, challengeMs } from './challenges.ts'

/** The address of the page, and its host name: a passkey works there alone. */
export type PasskeyHost = { origin: string; hostname: string }

/** A proof that was checked. It counts once it is stored: its challenge works once. */
type Checked = { challenge: string }
export type NewPasskey = Checked & Omit<Passkey, 'id' | 'accountId' | 'createdAt' | 'lastUsedAt'>
export type PasskeyProof = Checked & { passkey: Passkey; counter: number }

export type Passkeys = {
  signInOptions: (host: PasskeyHost) => Promise<object>
  registerOptions: (
    db: Db,
    host: PasskeyHost,
    user: { accountId?: string; email: string; name: string },
  ) => Promise<object>
  /** @throws AnnexError `body_invalid` */
  checkNew: (
    host: PasskeyHost,
    given: { response: object; label?: string | undefined },
  ) => Promise<NewPasskey>
  /** @throws AnnexError `unauthorized` */
  check: (db: Db, host: PasskeyHost, response: object) => Promise<PasskeyProof>
  /** @throws AnnexError `unauthorized` for a challenge that was used before, `conflict` for a passkey that is registered */
  store: (transaction: Db, accountId: string, passkey: NewPasskey) => Promise<Passkey>
  /** @throws AnnexError `unauthorized` for a proof that was used before */
  use: (transaction: Db, proof: PasskeyProof) => Promise<void>
}

// Its parsers of certificates take a while to load, and most starts need none.
const load = () => import('@simplewebauthn/server')
const loadHelpers = () => import('@simplewebauthn/server/helpers')

/** EdDSA, ES256 and RS256. Node warns of newer ones, which it calls experimental. */
const supportedAlgorithmIDs = [-8, -7, -257]

const longestReason = 200

export function createPasskeys(challenges: Challenges): Passkeys {
  async function useOnce(transaction: Db, challenge: string): Promise<void> {
    if (await challenges.use(transaction, challenge)) return
    throw refused('its challenge was used before')
  }
  return {
    async signInOptions({ hostname }) {
      const { generateAuthenticationOptions } = await load()
      return generateAuthenticationOptions({
        rpID: hostname,
        challenge: challenges.create('sign_in', hostname),
        userVerification: 'required',
        timeout: challengeMs,
      })
    },
    async registerOptions(db, { hostname }, { accountId, email, name }) {
      const { generateRegistrationOptions } = await load()
      const known = accountId === undefined ? [] : await listPasskeys(db, accountId)
      return generateRegistrationOptions({
        rpName: `Annex (${hostname})`,
        rpID: hostname,
        userID: Buffer.from(accountId ?? createId('acc')),
        userName: email,
        userDisplayName: name,
        challenge: challenges.create('register', hostname),
        attestationType: 'none',
        supportedAlgorithmIDs,
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        excludeCredentials: known
          .filter(({ host }) => host === hostname)
          .map(({ credentialId, transports }) => ({ id: credentialId, transports: JSON.parse(transports) })),
        timeout: challengeMs,
      })
    },
    async checkNew({ origin, hostname }, { response, label = '' }) {
      let challenge = ''
      try {
        await assertNoCertificate(response)
        const { verifyRegistrationResponse } = await load()
        const { verified, registrationInfo } = await verifyRegistrationResponse({
          response: response as RegistrationResponseJSON,
          expectedChallenge(text) {
            challenge = text
            return challenges.isValid(text, 'register', hostname)
          },
          expectedOrigin: origin,
          expectedRPID: hostname,
          requireUserVerification: true,
          supportedAlgorithmIDs,
        })
        if (!verified) throw new Error('its signature does not fit')
        const { id, publicKey, counter, transports = [] } = registrationInfo.credential
        return {
          ...{ challenge, credentialId: id, counter, host: hostname, label },
          publicKey: Buffer.from(publicKey).toString('base64url'),
          transports: JSON.stringify(transports.filter((one) => typeof one === 'string').slice(0, 10)),
        }
      } catch (cause) {
        const message = `cannot be used: ${reasonOf(cause)}`
        const details = [{ path: '/passkey', message }]
        throw new AnnexError('body_invalid', `The passkey ${message}.`, { details, cause })
      }
    },
    async check(db, { origin, hostname }, given) {
      const response = given as AuthenticationResponseJSON
      const passkey = await findPasskey(db, response.id)
      if (passkey === undefined) throw refused('no account has it')
      if (passkey.host !== hostname) throw refused(`it belongs to ${passkey.host}`)
      let challenge = ''
      try {
        const { verifyAuthenticationResponse } = await load()
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response,
          expectedChallenge(text) {
            challenge = text
            return challenges.isValid(text, 'sign_in', hostname)
          },
          expectedOrigin: origin,
          expectedRPID: hostname,
          requireUserVerification: true,
          credential: {
            id: passkey.credentialId,
            publicKey: Buffer.from(passkey.publicKey, 'base64url'),
            counter: passkey.counter,
          },
        })
        if (!verified) throw new Error('its signature does not fit')
        return { challenge, passkey, counter: authenticationInfo.newCounter }
      } catch (cause) {
        throw refused(reasonOf(cause), cause)
      }
    },
    async store(transaction, accountId, { challenge, ...passkey }) {
      await useOnce(transaction, challenge)
      return insertPasskey(transaction, { ...passkey, accountId }).catch((error) => {
        if (!isDuplicate(error)) throw error
        throw new AnnexError('conflict', 'This passkey is registered already.')
      })
    },
    async use(transaction, { challenge, passkey, counter }) {
      await useOnce(transaction, challenge)
      if (!(await countPasskey(transaction, { id: passkey.id, counter }))) throw refused('it was removed')
    },
  }
}

/**
 * Annex asks for no attestation. The library would read certificates, and fetch lists of revoked ones from any address that a
 * certificate names.
 */
async function assertNoCertificate(given: object): Promise<void> {
  const { response } = given as Partial<RegistrationResponseJSON>
  const { decodeAttestationObject, isoBase64URL } = await loadHelpers()
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(String(response?.attestationObject)))
  const format = attestation.get('fmt')
  const isPlain = format === 'none' || (format === 'packed' && !attestation.get('attStmt').get('x5c'))
  if (!isPlain) throw new Error('it comes with a certificate, and Annex takes none')
}

/** The library quotes what the browser sent. */
const reasonOf = (error: unknown): string =>
  messageOf(error)
    .replaceAll(/[^ -~]/g, '?')
    .slice(0, longestReason)
    .replace(/\.$/, '')

const refused = (reason: string, cause?: unknown): AnnexError =>
  new AnnexError('unauthorized', `This passkey was refused: ${reason}. Try again, or sign in another way.`, {
    cause,
  })
