import type { Answer } from '../../../schemas/client.ts'
import type { PasskeyResponse } from '../../../schemas/generated/api/accounts.ts'
import { api } from './api.ts'
import { texts } from './texts.ts'

type SignInNeeds = Answer<'GET /v1/sign-in'>

/** Why a passkey is not possible here, in words, or undefined. */
export function reasonAgainstPasskeys({ passkeys }: Pick<SignInNeeds, 'passkeys'>): string | undefined {
  if (!isSecureContext) return texts.passkeys.notSecure
  if (typeof PublicKeyCredential === 'undefined') return texts.passkeys.oldBrowser
  if (isAddress(location.hostname)) return texts.passkeys.noName(location.port)
  return passkeys.possible ? undefined : (passkeys.reason ?? texts.passkeys.otherHost(passkeys.host ?? ''))
}

/** A passkey belongs to the name of a host: an IP address has none. */
const isAddress = (host: string): boolean => /^[\d.]+$|^\[/.test(host)

export class PasskeyError extends Error {
  override readonly name = 'PasskeyError'
}

/** Has the browser make a passkey. The person may close its dialog. @throws PasskeyError, ApiError */
export async function createPasskey(person: { email?: string; name?: string }): Promise<PasskeyResponse> {
  const { options } = await api.call('POST /v1/passkey-challenges', {
    body: { purpose: 'register', ...person },
  })
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  )
  return toJson(() => navigator.credentials.create({ publicKey }))
}

/** Has the browser use a passkey of this host. @throws PasskeyError, ApiError */
export async function usePasskey(): Promise<PasskeyResponse> {
  const { options } = await api.call('POST /v1/passkey-challenges', { body: { purpose: 'sign_in' } })
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  )
  return toJson(() => navigator.credentials.get({ publicKey }))
}

async function toJson(ask: () => Promise<Credential | null>): Promise<PasskeyResponse> {
  try {
    const credential = await ask()
    if (credential instanceof PublicKeyCredential) return credential.toJSON() as PasskeyResponse
  } catch (cause) {
    const { name, message } = cause as Error
    if (name === 'InvalidStateError') throw new PasskeyError(texts.passkeys.known, { cause })
    if (name !== 'NotAllowedError') throw new PasskeyError(texts.passkeys.failed(message), { cause })
  }
  throw new PasskeyError(texts.passkeys.closed)
}
