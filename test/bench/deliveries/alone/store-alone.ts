// What is left when all is taken away that is not the store or the request: no claims, no retries, no limits, no thread for
// sending. No queue with the same record of its deliveries can be faster, so Annex is measured beside it.
import { readGiven } from '../child-calls.ts'
import { type OwedPost, postSigned, toPosts } from '../post-signed.ts'
import { type Given, inFlight, serveSender } from '../sender.ts'
import { openPostgresAlone } from './postgres-alone.ts'
import { openSqliteAlone } from './sqlite-alone.ts'

export type Ended = { id: string; deliveryId: string; status: number; startedAt: number; durationMs: number }

export type AloneStore = {
  about: string
  /** Stores new deliveries and finished attempts in one transaction. Settles when it is durable. */
  commit: (owed: readonly OwedPost[], ended: readonly Ended[]) => Promise<void>
  close: () => Promise<void>
}

const { urls, databaseUrl, dataDir } = readGiven<Given>()
const store = databaseUrl === '' ? openSqliteAlone(dataDir) : await openPostgresAlone(databaseUrl)

/** For the next commit. */
let owed: OwedPost[] = []
let ended: Ended[] = []
let next: Promise<void> | undefined
let underWay: Promise<void> = Promise.resolve()
/** Stored, and not sent yet. */
const toSend: OwedPost[] = []
let sending = 0
let unsettled = 0

serveSender({
  about: store.about,
  owe(event) {
    unsettled += urls.length
    owed.push(...toPosts(event, urls))
    return inNextCommit()
  },
  countOwed: async () => unsettled,
  close: store.close,
})

/** What comes up while the last commit is under way has the next one in common. */
function inNextCommit(): Promise<void> {
  next ??= underWay.then(async () => {
    await new Promise(setImmediate)
    next = undefined
    underWay = commit()
    await underWay
  })
  return next
}

async function commit(): Promise<void> {
  const [stored, settled] = [owed, ended]
  owed = []
  ended = []
  await store.commit(stored, settled)
  unsettled -= settled.length
  toSend.push(...stored)
  while (sending < inFlight && toSend.length > 0) void send()
}

async function send(): Promise<void> {
  sending += 1
  for (let post = toSend.pop(); post !== undefined; post = toSend.pop()) {
    const startedAt = Date.now()
    const { status } = await postSigned(post)
    const { deliveryId } = post
    const durationMs = Date.now() - startedAt
    ended.push({ id: `att-${deliveryId}`, deliveryId, status, startedAt, durationMs })
    void inNextCommit()
  }
  sending -= 1
}
