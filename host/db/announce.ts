import type { Db, JobKind } from './db.ts'

/** `changed`: a record that hosts keep in memory, or that jobs wait for. `work`: jobs are due. A kind: one of that kind is. */
export type News = 'changed' | 'work' | JobKind

/** Gets the news of each commit, on the connection that writes. */
export type OnNews = (listen: (news: News) => void) => void

/** Lets `onNews` hear what is announced on this connection, and in its transactions. */
export function listenTo(db: Db): OnNews {
  const listeners: ((news: News) => void)[] = []
  const tell = (news: News) => {
    for (const listen of listeners) listen(news)
  }
  db.userParams = { ...db.userParams, tell }
  return (listen) => void listeners.push(listen)
}

/** Tells the workers and caches of all hosts, when the transaction is committed; outside of one, at once. */
export function announce(db: Db, news: News): void {
  const { gathered, tell } = db.userParams as { gathered?: Set<News>; tell?: (news: News) => void }
  if (gathered === undefined) tell?.(news)
  else gathered.add(news)
}

/** Runs a transaction, and announces its news when it is committed. Those of an inner transaction go with the outer one. */
export async function announcing<Result>(db: Db, run: (transaction: Db) => Promise<Result>): Promise<Result> {
  const gathered = new Set<News>()
  const result = await db.transaction((transaction) => {
    transaction.userParams = { ...transaction.userParams, gathered }
    return run(transaction)
  })
  for (const news of gathered) announce(db, news)
  return result
}
