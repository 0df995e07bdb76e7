import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { AnnexError } from '../errors.ts'

/** OWASP's first choice for scrypt in November 2026. One run takes 128 MiB, and about half a second of a core. */
const cost = { log2N: 17, r: 8, p: 1 }
const [saltBytes, hashBytes] = [16, 32]
const mostBytes = 1_024

/** Each run takes a thread of libuv, which the database needs too. */
const mostRunning = 2
/** Above it a request would wait for longer than a person does. */
const mostWaiting = 20

const run = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

let running = 0
const waiting: (() => void)[] = []

/** A hash with its parameters: `scrypt$17$8$1$SALT$HASH`. @throws AnnexError `body_invalid`, `unavailable` */
export async function hashPassword(password: string): Promise<string> {
  assertUsable(password)
  const salt = randomBytes(saltBytes)
  const hash = await derive(password, salt, cost)
  const { log2N, r, p } = cost
  return ['scrypt', log2N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/**
 * Compares a password with a hash. Without a hash it works as long, and is false: the time must not tell whether an account has
 * the email.
 *
 * @throws AnnexError `unavailable`
 */
export async function isPassword(password: string, stored: string | null | undefined): Promise<boolean> {
  const [, log2N, r, p, salt = '', hash = ''] = (stored ?? noPassword).split('$')
  const parameters = { log2N: Number(log2N), r: Number(r), p: Number(p) }
  // Longer than any stored one: it is refused, but not sooner.
  const given = Buffer.byteLength(password) > mostBytes ? '' : password
  const derived = await derive(given, Buffer.from(salt, 'base64url'), parameters)
  return timingSafeEqual(derived, Buffer.from(hash, 'base64url')) && stored != null
}

const noPassword = [
  ...['scrypt', cost.log2N, cost.r, cost.p],
  ...[saltBytes, hashBytes].map((length) => Buffer.alloc(length).toString('base64url')),
].join('$')

/** @throws AnnexError `body_invalid` */
function assertUsable(password: string): void {
  const bytes = Buffer.byteLength(password)
  const problem = !password.isWellFormed()
    ? 'holds half of a character'
    : bytes > mostBytes
      ? `has ${bytes} bytes, and ${mostBytes} are the most`
      : undefined
  if (problem === undefined) return
  const details = [{ path: '/password', message: problem }]
  throw new AnnexError('body_invalid', `The password ${problem}.`, { details })
}

async function derive(password: string, salt: Buffer, { log2N, r, p }: typeof cost): Promise<Buffer> {
  await takeTurn()
  try {
    const N = 2 ** log2N
    // Keyboards of different systems compose an accented letter in different ways.
    return await run(password.normalize('NFKC'), salt, hashBytes, { N, r, p, maxmem: 256 * N * r })
  } finally {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }
}

/** @throws AnnexError `unavailable` */
function takeTurn(): Promise<void> | void {
  if (running < mostRunning) {
    running += 1
    return
  }
  if (waiting.length >= mostWaiting) {
    throw new AnnexError('unavailable', 'Too many passwords wait to be checked. Try again in a few seconds.')
  }
  return new Promise((resolve) => {
    waiting.push(resolve)
  })
}
