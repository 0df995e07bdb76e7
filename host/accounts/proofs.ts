import type { Db } from '../db/db.ts'
import { isDuplicate } from '../db/errors.ts'
import { type Account, insertAccount, lockAccount } from '../db/queries/accounts.ts'
import { AnnexError } from '../errors.ts'
import type { NewPasskey, PasskeyHost, Passkeys } from './passkeys.ts'
import { hashPassword } from './passwords.ts'

/** A way to sign in that was made ready outside of a transaction: its hash takes half a second. */
export type NewProof = { password?: string; passkey?: NewPasskey }

/** @throws AnnexError `body_invalid`, also for none */
export async function prepareProof(
  passkeys: Passkeys,
  host: PasskeyHost,
  given: { password?: string; passkey?: { response: object; label?: string } },
): Promise<NewProof> {
  if (given.password === undefined && given.passkey === undefined) {
    const details = [{ path: '/password', message: 'is required without a passkey' }]
    throw new AnnexError('body_invalid', 'Give a password or a passkey.', { details })
  }
  return {
    ...(given.passkey && { passkey: await passkeys.checkNew(host, given.passkey) }),
    ...(given.password !== undefined && { password: await hashPassword(given.password) }),
  }
}

/** @throws AnnexError `conflict` when another account has the email */
export async function createAccount(
  transaction: Db,
  passkeys: Passkeys,
  given: Pick<Account, 'email' | 'name' | 'isOperator'>,
  proof: NewProof,
): Promise<Account> {
  const { email, name, isOperator } = given
  const account = await insertAccount(transaction, {
    ...{ email: email.toLowerCase(), name, isOperator, password: proof.password ?? null },
  }).catch(refuseTakenEmail)
  if (proof.passkey !== undefined) await passkeys.store(transaction, account.id, proof.passkey)
  return account
}

/** @throws AnnexError `conflict` in place of the database's error */
export function refuseTakenEmail(error: unknown): never {
  if (!isDuplicate(error)) throw error
  const text = 'Another account has this email. Sign in with it, or give another email.'
  throw new AnnexError('conflict', text, { details: [{ path: '/email', message: 'is taken' }] })
}

/**
 * The account as it is once other changes of it are done. A sign-in with a password that was replaced meanwhile must not
 * outlive the reset.
 *
 * @throws AnnexError `unauthorized`
 */
export async function lockUnchanged(transaction: Db, account: Account): Promise<Account> {
  const locked = await lockAccount(transaction, account.id)
  if (locked !== undefined && locked.password === account.password) return locked
  throw new AnnexError('unauthorized', 'The account has just been changed. Try again.')
}
