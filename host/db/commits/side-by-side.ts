import type { Db } from '../db.ts'
import { isPostgres } from '../rows/json-rows.ts'

/**
 * Asks a transaction for several things of which none needs another one's answer. PostgreSQL is sent what all of them ask without a
 * way there and back for each, and takes no more after an error until the transaction is over. SQLite is asked for one after the
 * other: an error may have ended its transaction (a full disk does), and whatever came then would be stored by itself.
 *
 * @returns the answers in their order, when none of them goes on: neither do they after an error
 */
export async function sideBySide<Answers extends readonly unknown[]>(
  transaction: Db,
  asked: readonly [...{ [N in keyof Answers]: () => Promise<Answers[N]> }],
): Promise<Answers> {
  const answers = isPostgres(transaction) ? await atOnce(asked) : await inTurn(asked)
  return answers as unknown as Answers
}

async function atOnce(asked: readonly (() => Promise<unknown>)[]): Promise<unknown[]> {
  const ended = await Promise.allSettled(asked.map((ask) => ask()))
  const errors: unknown[] = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  if (errors.length > 0) throw errors.find((error) => !isOfAnother(error)) ?? errors[0]
  return ended.map((one) => (one.status === 'fulfilled' ? one.value : undefined))
}

/** `in_failed_sql_transaction`: what was asked after the error that says why. */
const isOfAnother = (error: unknown): boolean => (error as { code?: string }).code === '25P02'

async function inTurn(asked: readonly (() => Promise<unknown>)[]): Promise<unknown[]> {
  const answers: unknown[] = []
  for (const ask of asked) answers.push(await ask())
  return answers
}
