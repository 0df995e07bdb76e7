import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { messageOf } from '../../../host/errors.ts'

// biome-ignore lint/suspicious/noExplicitAny: each method has an argument of its own; callers see its type
type Methods = Record<string, (argument: any) => unknown>
type Call = { id: number; name: string; argument: unknown }
type Answer = { id: number; value?: unknown; error?: string }

/** A program of the benchmark in a process of its own, and its methods. */
export type Child<M extends Methods> = {
  pid: number
  call: <K extends keyof M & string>(
    name: K,
    argument: Parameters<M[K]>[0],
  ) => Promise<Awaited<ReturnType<M[K]>>>
  /** Lets the process end. */
  close: () => Promise<void>
  /** SIGKILL, as a crash. */
  kill: () => Promise<void>
}

/** One clock for all processes of the machine, in ms: what it gives in two of them can be compared. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6

const compileCache = fileURLToPath(new URL('../../../node_modules/.cache/annex', import.meta.url))
const startMs = 60_000
const endMs = 20_000

/** In the child: answers calls until the process that has started it goes. */
export function answerCalls(methods: Methods, close: () => Promise<unknown>): void {
  const send = (answer: Answer | 'ready') => process.connected && process.send?.(answer)
  process.on('message', async ({ id, name, argument }: Call) => {
    try {
      send({ id, value: await methods[name]?.(argument) })
    } catch (error) {
      send({ id, error: messageOf(error) })
    }
  })
  process.once('disconnect', () => close().finally(() => process.exit()))
  send('ready')
}

/** What the child was started with. */
export const readGiven = <T>(): T => JSON.parse(process.argv[2] ?? '{}')

/**
 * Starts a program that calls `answerCalls`, and waits until it does.
 *
 * @throws Error with what it said on stderr when it ends before
 */
export async function startChild<M extends Methods>(script: URL, given: object): Promise<Child<M>> {
  const child = fork(script, [JSON.stringify(given)], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // As bin/annex.js does.
    env: { UV_THREADPOOL_SIZE: '16', ...process.env, NODE_COMPILE_CACHE: compileCache },
  })
  let said = ''
  child.stderr?.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-2_000)
  })
  const name = script.pathname.split('/').at(-1)
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${name} ended: ${said}`)
  })
  ended.catch(() => {})
  try {
    await Promise.race([
      once(child, 'message'),
      ended,
      timeout(() => `${name} is not ready after ${startMs} ms: ${said}`),
    ])
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  return { pid: child.pid ?? 0, call: createCall<M>(child, ended), ...createEnds(child) }
}

function createCall<M extends Methods>(child: ChildProcess, ended: Promise<never>): Child<M>['call'] {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0
  child.on('message', ({ id, value, error }: Answer) => {
    if (error === undefined) waiting.get(id)?.resolve(value)
    else waiting.get(id)?.reject(new Error(error))
    waiting.delete(id)
  })
  return (name, argument) => {
    // biome-ignore lint/suspicious/noExplicitAny: what a method gives, the child's types say
    const answer = Promise.withResolvers<any>()
    lastId++
    waiting.set(lastId, answer)
    child.send({ id: lastId, name, argument } satisfies Call)
    return Promise.race([answer.promise, ended])
  }
}

function timeout(toMessage: () => string): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(toMessage())), startMs).unref()
  })
}

function createEnds(child: ChildProcess) {
  const end = async (ask: () => void) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    ask()
    const timer = setTimeout(() => child.kill('SIGKILL'), endMs)
    await exited
    clearTimeout(timer)
  }
  return { close: () => end(() => child.disconnect()), kill: () => end(() => child.kill('SIGKILL')) }
}
