import { createHash } from 'node:crypto'

/** How one honest request ended. */
export type HonestAnswer = { atMs: number; ms: number; name: string } & (
  | { kind: 'ok' }
  /** In flight in a process that died: 502 with a code, as documented. */
  | { kind: 'died' }
  | { kind: 'failed'; why: string; requestId: string | null }
)

const everyMs = 100
const longestMs = 20_000

/** Asks each endpoint ten times a second, whether the one before has been answered or not, and checks every answer. */
export function startHonestLoad(endpoints: { name: string; url: string }[]): {
  answers: HonestAnswer[]
  /** Settles when the requests that are under way now are answered. */
  underWay: () => Promise<void>
  stop: () => Promise<void>
} {
  const answers: HonestAnswer[] = []
  const running = new Set<Promise<void>>()
  let count = 0
  const timers = endpoints.map((endpoint, index) => {
    const ask = () => {
      count += 1
      const asked = askHonest(endpoint, count).then((answer) => {
        answers.push(answer)
        running.delete(asked)
      })
      running.add(asked)
    }
    // One after the other rather than all at once.
    let timer = setTimeout(
      () => {
        timer = setInterval(ask, everyMs)
      },
      (everyMs / endpoints.length) * index,
    )
    return () => clearInterval(timer)
  })
  return {
    answers,
    async underWay() {
      await Promise.all([...running])
    },
    async stop() {
      for (const clear of timers) clear()
      await Promise.all(running)
    },
  }
}

async function askHonest({ name, url }: { name: string; url: string }, count: number): Promise<HonestAnswer> {
  const startedAt = performance.now()
  const done = () => ({ atMs: startedAt, ms: performance.now() - startedAt, name })
  let requestId: string | null = null
  try {
    const body = `request ${count} `.repeat((count % 50) + 1)
    const ask = count % 2 === 0 ? `n${count}` : undefined
    const response = await fetch(ask === undefined ? url : `${url}?ask=${ask}`, {
      method: 'POST',
      body,
      signal: AbortSignal.timeout(longestMs),
    })
    requestId = response.headers.get('x-request-id')
    const text = await response.text()
    if (response.status === 502 && text.includes('"sandbox_died"')) return { ...done(), kind: 'died' }
    if (response.status !== 200)
      return { ...done(), kind: 'failed', requestId, why: `${response.status} ${codeOf(text)}` }
    const digest = createHash('sha256').update(body).digest('hex')
    const isRight = text === JSON.stringify({ digest, heard: ask ?? null })
    return isRight
      ? { ...done(), kind: 'ok' }
      : { ...done(), kind: 'failed', requestId, why: `wrong answer: ${text.slice(0, 200)}` }
  } catch (error) {
    const { name: kind, cause } = error as Error
    return { ...done(), kind: 'failed', requestId, why: `${kind} ${String(cause ?? '')}` }
  }
}

/** The code of an error's answer. */
export function codeOf(text: string): string {
  try {
    return JSON.parse(text).error.code
  } catch {
    return text.slice(0, 60)
  }
}
