import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from 'koa'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { AnnexError } from '../errors.ts'
import { isFromHere, visitorOf } from './visitor.ts'

/**
 * Counts requests of this host, in its memory. Each function rejects with AnnexError `rate_limited` above the limit, and
 * returns nothing where no limit applies. Requests of a person on this machine past no proxy are not counted.
 */
export type RateLimits = {
  /** @param key names the token, and is no secret */
  countToken: (context: Context, key: string) => Promise<void> | undefined
  /** @param counter names the endpoint, or the operation with its record. Each counter has a limit of its own */
  countVisitor: (context: Context, counter: string) => Promise<void> | undefined
  /** Counts a try of a password: by its account, and by its address, also on this machine. */
  countTry: (context: Context, email: string) => Promise<void>
  /** Takes back what a right password has counted. */
  forgiveTry: (context: Context, email: string) => Promise<void>
  /** True when the visitor's next request to the counter is refused. It counts nothing. */
  isSpent: (context: Context, counter: string) => Promise<boolean>
}

/** The counter of all requests that are refused, or for nothing: a visitor can name any number of these. */
export const nowhere = 'nowhere'

/** Short, so that a visitor who was refused need not wait for long. */
export const windowSeconds = 10
/** Tries of passwords: guesses come slowly, over days. An office has one address. */
const tryLimits = { windowSeconds: 15 * 60, account: 10, address: 50 }
/** A flood of addresses replaces the counts that began first, and so takes no more memory. */
const maxKeys = 50_000
/**
 * An answer of 429 waits: who asks again at once has ten answers a second on each connection, and leaves the processor to
 * others. Up to as much again by chance: many connections do not come back together.
 */
const refusalMs = 100
/** Above it answers of 429 come at once: a wait costs memory. */
const mostWaiting = 1_000
/** A parameter of a path is up to 16 KiB long. */
const maxKeyLength = 300

/** @param limits requests in each window; 0: no limit */
export function createRateLimits(
  limits: { token: number; visitor: number },
  isBehindProxy: boolean,
): RateLimits {
  const tokens = createLimiter('token', limits.token)?.count
  const visitors = createLimiter('visitor', limits.visitor)
  const tries = {
    account: createLimiter('account', tryLimits.account, tryLimits.windowSeconds),
    address: createLimiter('address', tryLimits.address, tryLimits.windowSeconds),
  }
  const isFree = ({ req }: Context) => !isBehindProxy && isFromHere(req)
  return {
    countToken(context, key) {
      if (tokens === undefined || isFree(context)) return undefined
      return tokens(context, key, 'This token has')
    },
    countVisitor(context, counter) {
      if (visitors === undefined || isFree(context)) return undefined
      const visitor = visitorOf(context.req, isBehindProxy)
      return visitors.count(context, `${visitor} ${counter}`, `The address ${visitor} has`)
    },
    async countTry(context, email) {
      const visitor = visitorOf(context.req, isBehindProxy)
      await tries.address?.count(context, visitor, `The address ${visitor} has`)
      await tries.account?.count(context, email, 'This email has')
    },
    async forgiveTry(context, email) {
      await tries.address?.forgive(visitorOf(context.req, isBehindProxy))
      await tries.account?.forgive(email)
    },
    async isSpent(context, counter) {
      if (visitors === undefined || isFree(context)) return false
      return visitors.isSpent(`${visitorOf(context.req, isBehindProxy)} ${counter}`)
    },
  }
}

type Limiter = {
  count: (context: Context, key: string, who: string) => Promise<void>
  isSpent: (key: string) => Promise<boolean>
  forgive: (key: string) => Promise<void>
}

function createLimiter(
  name: 'token' | 'visitor' | 'account' | 'address',
  points: number,
  duration = windowSeconds,
): Limiter | undefined {
  if (points === 0) return undefined
  const limiter = new RateLimiterMemory({ keyPrefix: '', points, duration })
  const keys = new Set<string>()
  const policy = `"${name}";q=${points};w=${duration}`
  return {
    count,
    async forgive(key) {
      await limiter.reward(key.slice(0, maxKeyLength), 1)
    },
    isSpent: async (key) => ((await limiter.get(key.slice(0, maxKeyLength)))?.remainingPoints ?? 1) <= 0,
  }

  async function count(context: Context, longKey: string, who: string): Promise<void> {
    const key = longKey.slice(0, maxKeyLength)
    const counted = await limiter.consume(key).catch((refused: RateLimiterRes) => refused)
    if (counted.isFirstInDuration) dropOldest(limiter, keys, key)
    const seconds = Math.max(1, Math.ceil(counted.msBeforeNext / 1000))
    // draft-ietf-httpapi-ratelimit-headers-10
    context.set('ratelimit-policy', policy)
    context.set('ratelimit', `"${name}";r=${counted.remainingPoints};t=${seconds}`)
    if (counted.consumedPoints <= points) return
    context.set('retry-after', String(seconds))
    await waitToRefuse()
    const text = `${who} sent more than ${points} requests within ${duration} seconds. Try again in ${seconds} s.`
    throw new AnnexError('rate_limited', text)
  }
}

let waiting = 0

async function waitToRefuse(): Promise<void> {
  if (waiting >= mostWaiting) return
  waiting += 1
  await sleep(refusalMs * (1 + Math.random()))
  waiting -= 1
}

function dropOldest(limiter: RateLimiterMemory, keys: Set<string>, key: string): void {
  keys.delete(key)
  keys.add(key)
  if (keys.size <= maxKeys) return
  const [oldest = key] = keys
  keys.delete(oldest)
  void limiter.delete(oldest)
}
