import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import ivm from 'isolated-vm'
import { buildPrelude } from '../../host/bundle/build-prelude.ts'
import type { DispatchMessage, DispatchResult, GuestMessage, GuestPost } from '../../runtime/bridge.ts'
import { createCryptoCalls } from '../../runtime/process/crypto/crypto-calls.ts'

/** The process side of `runtime/bridge.ts`, as small as it can be: one real isolate, one script. */
export type Guest = {
  /** Resolves with the answer of the dispatch. */
  dispatch(message: Partial<DispatchMessage>, body?: string | Uint8Array): Promise<Answer>
  /** Resolves when the dispatch with this number (the first is 1) is done. */
  done(id: number): Promise<void>
  /** Every post, in order, as it came: already parsed, so each was well-formed JSON. */
  posts: GuestPost[]
  logs: { dispatch: number; level: string; text: string }[]
  /** Errors that came out of `receive` itself. */
  failures: Error[]
  context: ivm.Context
  receive(message: GuestMessage, bytes?: ArrayBuffer): void
  close(): void
}

export type Answer = { id: number; result: DispatchResult; bytes: Uint8Array; text: string }
export type Served = { value?: unknown; bytes?: ArrayBuffer }
export type Serve = Record<string, (args: never, bytes?: ArrayBuffer) => Served | Promise<Served>>
export type Mode = 'snapshot' | 'eval'
export const modes: Mode[] = ['snapshot', 'eval']

const rootFolder = fileURLToPath(new URL('../..', import.meta.url))
const sliceMs = 2000

/** The prelude, and its snapshot. Made once for each test file. */
export const createPlatform = async () => {
  const cacheFolder = await mkdtemp(path.join(tmpdir(), 'annex-prelude-'))
  try {
    const { code } = await buildPrelude({ cacheFolder })
    return { code, snapshot: ivm.Isolate.createSnapshot([{ code, filename: 'annex:platform' }]) }
  } finally {
    await rm(cacheFolder, { recursive: true })
  }
}

export type Platform = Awaited<ReturnType<typeof createPlatform>>

/** Bundles a script that imports `@annex/runtime`, as the host does. */
export const bundleScript = async (source: string, loader: 'ts' | 'tsx' = 'tsx'): Promise<string> => {
  const result = await build({
    stdin: { contents: source, loader, sourcefile: 'script.tsx', resolveDir: rootFolder },
    alias: {
      '@annex/runtime/jsx-runtime': path.join(rootFolder, 'runtime/sdk/jsx-runtime.ts'),
      '@annex/runtime': path.join(rootFolder, 'runtime/sdk/index.ts'),
    },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'neutral',
    jsx: 'automatic',
    jsxImportSource: '@annex/runtime',
    logLevel: 'silent',
  })
  return result.outputFiles[0]?.text ?? ''
}

/** A script without the SDK, whose every dispatch runs `body` and answers its value. */
export const scriptOf = (body: string): string =>
  `module.exports = { [Symbol.for('annex.dispatch')]: async (event, environment, request, host) =>
    ({ value: await (async () => {\n${body}\n})() }) }`

/** Starts a guest. Throws what loading the script threw. */
export const createGuest = (given: {
  platform: Platform
  mode: Mode
  script: string
  serve?: Serve
  allowEval?: boolean
}): Guest => {
  const isolate = new ivm.Isolate({
    memoryLimit: 128,
    ...(given.mode === 'snapshot' ? { snapshot: given.platform.snapshot } : {}),
  })
  const context = isolate.createContextSync()
  if (given.mode === 'eval') context.evalSync(given.platform.code, { filename: 'annex:platform' })

  const crypto = createCryptoCalls()
  const timers = new Map<number, NodeJS.Timeout>()
  const answers = new Map<number, (answer: Answer) => void>()
  const doneWaiters = new Map<number, () => void>()
  const posts: GuestPost[] = []
  const logs: Guest['logs'] = []
  const failures: Error[] = []
  let lastId = 0

  const receive = (message: GuestMessage, bytes?: ArrayBuffer): void => {
    if (isolate.isDisposed) return
    try {
      const copy = bytes === undefined ? undefined : new ivm.ExternalCopy(bytes).copyInto({ release: true })
      receiveReference.applySync(undefined, [JSON.stringify(message), copy], { timeout: sliceMs })
    } catch (error) {
      failures.push(error as Error)
    }
  }

  const answerCall = async (post: Extract<GuestPost, { kind: 'call' }>, bytes?: ArrayBuffer) => {
    const { id, name, args } = post
    try {
      const served = name.startsWith('crypto.')
        ? await crypto(name, args, bytes)
        : await given.serve?.[name]?.(args as never, bytes)
      if (served === undefined) return
      receive({ kind: 'settle', id, ok: true, value: served.value }, served.bytes)
    } catch (error) {
      const { name, message } = error as Error
      receive({ kind: 'settle', id, ok: false, error: { name, message } })
    }
  }

  /** The guest would catch what is thrown here, and nobody would learn of it. */
  const parsePost = (text: string): GuestPost | undefined => {
    try {
      return JSON.parse(text)
    } catch (error) {
      failures.push(error as Error)
      return undefined
    }
  }

  const onPost = (text: string, bytes?: ArrayBuffer): void => {
    const post = parsePost(text)
    if (post === undefined) return
    posts.push(post)
    switch (post.kind) {
      case 'answer': {
        const body = new Uint8Array(bytes ?? new ArrayBuffer(0))
        if (post.done) doneWaiters.get(post.id)?.()
        const answer = { id: post.id, result: post.result, bytes: body, text: new TextDecoder().decode(body) }
        return answers.get(post.id)?.(answer)
      }
      case 'done':
        return doneWaiters.get(post.id)?.()
      case 'log':
        logs.push(post)
        return
      case 'call':
        return void answerCall(post, bytes)
      case 'timer':
        timers.set(
          post.id,
          setTimeout(() => receive({ kind: 'fire', id: post.id }), post.delayMs),
        )
        return
      case 'clear-timer':
        return clearTimeout(timers.get(post.id))
    }
  }

  const onAsk = (op: string, argument?: number): ArrayBuffer | number => {
    if (op === 'random') return globalThis.crypto.getRandomValues(new Uint8Array(argument ?? 0)).buffer
    return op === 'now' ? performance.now() : performance.timeOrigin
  }

  const boot = context.global.getSync('__annexBoot', { reference: true })
  const booted = boot.applySync(
    undefined,
    [new ivm.Callback(onPost), new ivm.Callback(onAsk), given.allowEval],
    { result: { reference: true } },
  ) as unknown as ivm.Reference<Record<'receive' | 'define', (...given: unknown[]) => unknown>>
  const bundle = context.evalSync(`(function (module) {${given.script}\n})`, {
    filename: 'annex:script',
    reference: true,
  })
  const receiveReference = booted.getSync('receive', { reference: true })
  try {
    booted.getSync('define', { reference: true }).applySync(undefined, [bundle.derefInto()], {
      timeout: sliceMs,
    })
  } catch (error) {
    isolate.dispose()
    throw error
  }

  return {
    posts,
    logs,
    failures,
    context,
    receive,
    dispatch(message, body) {
      lastId += 1
      const id = lastId
      const { promise, resolve } = Promise.withResolvers<Answer>()
      answers.set(id, resolve)
      const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
      const whole = { event: { type: 'test' }, environment: {}, ...message }
      receive({ kind: 'dispatch', id, message: whole }, bytes?.slice().buffer as ArrayBuffer | undefined)
      return promise
    },
    done(id) {
      if (posts.some((post) => isDone(post) && post.id === id)) return Promise.resolve()
      return new Promise((resolve) => doneWaiters.set(id, resolve))
    },
    close() {
      for (const timer of timers.values()) clearTimeout(timer)
      if (!isolate.isDisposed) isolate.dispose()
    },
  }
}

const isDone = (post: GuestPost): post is Extract<GuestPost, { kind: 'answer' | 'done' }> =>
  post.kind === 'done' || (post.kind === 'answer' && post.done === true)

/** Runs `body` in a fresh isolate and returns its value; throws what it threw. */
export const run = async (
  platform: Platform,
  mode: Mode,
  body: string,
  serve?: Serve,
  onLog?: (text: string) => void,
): Promise<unknown> => {
  const guest = createGuest({ platform, mode, script: scriptOf(body), ...(serve && { serve }) })
  try {
    const { result } = await guest.dispatch({})
    for (const { text } of guest.logs) onLog?.(text)
    if (guest.failures[0] !== undefined) throw guest.failures[0]
    if (result.kind === 'error') throw Object.assign(new Error(result.error.message), result.error)
    return result.kind === 'value' ? result.value : undefined
  } finally {
    guest.close()
  }
}
