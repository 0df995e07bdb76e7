import type { Db } from '../db.ts'
import { createId } from '../ids.ts'

/** A person who signs in. */
export type Account = {
  id: string
  /** In lower case. */
  email: string
  name: string
  /** Null for a person who signs in by a passkey. */
  password: string | null
  /** Not by a membership: the account of a setup token. */
  isOperator: boolean
  createdAt: number
  updatedAt: number
}

// SQLite has numbers for truth values.
const toAccount = (row: Account | undefined): Account | undefined =>
  row && { ...row, isOperator: Boolean(row.isOperator) }

/** @throws the database's error, `isDuplicate` when another account has the email */
export async function insertAccount(
  transaction: Db,
  given: Pick<Account, 'email' | 'name' | 'password' | 'isOperator'>,
): Promise<Account> {
  const now = Date.now()
  const row = { id: createId('acc'), ...given, createdAt: now, updatedAt: now }
  await transaction('accounts').insert(row)
  return row
}

export async function findAccount(db: Db, id: string): Promise<Account | undefined> {
  return toAccount(await db('accounts').where({ id }).first())
}

export async function findAccountByEmail(db: Db, email: string): Promise<Account | undefined> {
  return toAccount(await db('accounts').where({ email: email.toLowerCase() }).first())
}

/** Locks an account: other changes of its ways to sign in and of its memberships wait. */
export async function lockAccount(transaction: Db, id: string): Promise<Account | undefined> {
  return toAccount(await transaction('accounts').where({ id }).forUpdate().first())
}

/** @throws the database's error, `isDuplicate` when another account has the email */
export async function updateAccount(
  transaction: Db,
  id: string,
  change: Partial<Pick<Account, 'email' | 'name' | 'password'>>,
): Promise<void> {
  await transaction('accounts')
    .where({ id })
    .update({ ...change, updatedAt: Date.now() })
}

/** True when a person can sign in as an operator. */
export async function hasOperatorAccount(db: Db): Promise<boolean> {
  const own = await db('accounts').where({ isOperator: true }).first('id')
  if (own !== undefined) return true
  const member = await db('members').where({ role: 'operator' }).whereNotNull('accountId').first('id')
  return member !== undefined
}

/**
 * Ends the sessions of accounts that have lost a membership. Deletes those that have no further one: an account that may do
 * nothing would only be a way in.
 */
export async function endMemberships(transaction: Db, accountIds: readonly string[]): Promise<void> {
  for (const id of accountIds.toSorted()) {
    // Of two last memberships that end at once, the second one sees the end of the first.
    const account = await lockAccount(transaction, id)
    await transaction('sessions').where({ accountId: id }).delete()
    const left = await transaction('members').where({ accountId: id }).first('id')
    if (account?.isOperator === false && left === undefined)
      await transaction('accounts').where({ id }).delete()
  }
}
