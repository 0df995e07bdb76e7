import { AnnexError } from '../errors.ts'
import type { OnOperation } from './operations.ts'

/** Accounts and sessions of people. */
export function addAccountRoutes(on: OnOperation, _parts: object): void {
  const notBuilt = (): never => {
    throw new AnnexError('unavailable', 'not built yet')
  }
  on('GET /v1/sign-in', notBuilt)
  on('POST /v1/passkey-challenges', notBuilt)
  on('POST /v1/links', notBuilt)
  on('POST /v1/accounts', notBuilt)
  on('POST /v1/resets', notBuilt)
  on('POST /v1/resets/links', notBuilt)
  on('GET /v1/account', notBuilt)
  on('PATCH /v1/account', notBuilt)
  on('POST /v1/account/passkeys', notBuilt)
  on('DELETE /v1/account/passkeys/{passkey}', notBuilt)
  on('POST /v1/account/memberships', notBuilt)
  on('POST /v1/orgs/{org}/members/{member}/invitation', notBuilt)
  on('POST /v1/sessions', notBuilt)
  on('GET /v1/sessions', notBuilt)
  on('DELETE /v1/sessions/{session}', notBuilt)
  on('POST /v1/sessions/current/confirmation', notBuilt)
}
