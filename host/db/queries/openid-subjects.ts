import type { Db } from '../db.ts'

/** A person of an OpenID provider, who is an account. */
export type OpenidSubject = {
  issuer: string
  /** The claim `sub`. */
  subject: string
  accountId: string
  /** True: the provider made the account, and sets its memberships at each sign-in. */
  setsRoles: boolean
  createdAt: number
  lastUsedAt: number | null
}

export type SubjectKey = Pick<OpenidSubject, 'issuer' | 'subject'>

// SQLite has numbers for truth values.
const toSubject = (row: OpenidSubject | undefined): OpenidSubject | undefined =>
  row && { ...row, setsRoles: Boolean(row.setsRoles) }

export async function findSubject(
  db: Db,
  { issuer, subject }: SubjectKey,
): Promise<OpenidSubject | undefined> {
  return toSubject(await db('openidSubjects').where({ issuer, subject }).first())
}

export async function findSubjectOf(db: Db, accountId: string): Promise<OpenidSubject | undefined> {
  return toSubject(await db('openidSubjects').where({ accountId }).first())
}

/** @throws the database's error, `isDuplicate` when the subject is another account, or the account another subject */
export async function insertSubject(
  transaction: Db,
  given: SubjectKey & Pick<OpenidSubject, 'accountId' | 'setsRoles'>,
): Promise<void> {
  await transaction('openidSubjects').insert({ ...given, createdAt: Date.now(), lastUsedAt: null })
}

export async function touchSubject(transaction: Db, { issuer, subject }: SubjectKey): Promise<void> {
  await transaction('openidSubjects').where({ issuer, subject }).update({ lastUsedAt: Date.now() })
}

export async function deleteSubjectOf(transaction: Db, accountId: string): Promise<void> {
  await transaction('openidSubjects').where({ accountId }).delete()
}
