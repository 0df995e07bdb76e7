import { isUtf8 } from 'node:buffer'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import ivm from 'isolated-vm'
import { buildPrelude } from '../../host/bundle/build-runtime.ts'
import type { DispatchMessage, DispatchResult } from '../../runtime/bridge.ts'
import { platformFile } from '../../runtime/platform-frames.ts'
import { answerAsk } from '../../runtime/process/ask.ts'
import { createCryptoCalls } from '../../runtime/process/crypto/crypto-calls.ts'
import { answered, logLevels, message, post } from '../../runtime/wire-kinds.ts'
import { buildsFolder } from '../support/kept-builds.ts'

/** The process side of `runtime/bridge.ts`, as small as it can be: one real isolate, one script. */
export type Guest = {
  /** Resolves with the answer of the dispatch. A text is the head of a request, as in `bridge.ts`. */
  dispatch(message: Message | string, body?: string | Uint8Array): Promise<Answer>
  /** Resolves when the dispatch with this number (the first is 1) is done. */
  done(id: number): Promise<void>
  /** Every post, in order, as it came: already parsed, so each was well-formed JSON. */
  posts: Post[]
  logs: { dispatch: number; level: string; text: string }[]
  /** Errors that came out of `receive` itself. */
  failures: Error[]
  context: ivm.Context
  receive(kind: keyof typeof message, id: number, number: number, text?: string, body?: unknown): void
  close(): void
}

/** What the guest said, with names in place of numbers. */
export type Post =
  | { kind: 'answer'; id: number; result: DispatchResult; done: boolean }
  | { kind: 'call'; id: number; name: string; args: unknown }
  | { kind: 'log'; dispatch: number; level: string; text: string }
  | { kind: Exclude<keyof typeof post, 'answer' | 'call' | 'log'>; id: number; number: number }

export type Message = DispatchMessage & { environment?: object }

export type Answer = { id: number; result: DispatchResult; bytes: Uint8Array; text: string }
export type Served = { value?: unknown; bytes?: ArrayBuffer }
export type Serve = Record<string, (args: never, bytes?: ArrayBuffer) => Served | Promise<Served>>
export type Mode = 'snapshot' | 'eval'
export const modes: Mode[] = ['snapshot', 'eval']

const rootFolder = fileURLToPath(new URL('../..', import.meta.url))
// The finalizers of isolates would run while Node ends: isolated-vm has no thread to notify then, and may abort.
process.once('exit', () => process.exit())
/** For a test that would not end: nothing is measured by it, and a machine may be slow. */
const sliceMs = 30_000

/** The prelude, and its snapshot. Made once for each test file. */
export const createPlatform = async () => {
  const { code } = await buildPrelude({ cacheFolder: buildsFolder })
  return { code, snapshot: ivm.Isolate.createSnapshot([{ code, filename: platformFile }]) }
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
  if (given.mode === 'eval') context.evalSync(given.platform.code, { filename: platformFile })

  const crypto = createCryptoCalls()
  const timers = new Map<number, NodeJS.Timeout>()
  const answers = new Map<number, (answer: Answer) => void>()
  const doneWaiters = new Map<number, () => void>()
  const posts: Post[] = []
  const logs: Guest['logs'] = []
  const failures: Error[] = []
  let lastId = 0

  /** Bytes that are a short UTF-8 text cross as text, as in the process. */
  const toWire = (bytes: ArrayBuffer | Uint8Array | undefined, mayBeText = true) => {
    if (bytes === undefined || bytes.byteLength === 0) return undefined
    const view = new Uint8Array(bytes)
    if (mayBeText && isUtf8(view)) return Buffer.from(view).toString()
    return new ivm.ExternalCopy(view.slice().buffer).copyInto({ release: true })
  }

  const receive: Guest['receive'] = (kind, id, number, text, body) => {
    if (isolate.isDisposed) return
    try {
      receiveReference.applySync(undefined, [message[kind], id, number, text, body as string], {
        timeout: sliceMs,
      })
    } catch (error) {
      failures.push(error as Error)
    }
  }

  const answerCall = async (id: number, name: string, args: unknown, bytes?: ArrayBuffer) => {
    if (name.startsWith('crypto.')) {
      return crypto.start({ dispatch: lastId, name, args, bytes }, (answer) => {
        if (!answer.ok) return receive('reject', id, 0, JSON.stringify(answer.error))
        receive('settle', id, 0, JSON.stringify(answer.value) ?? 'null', toWire(answer.bytes, false))
      })
    }
    try {
      const served = await given.serve?.[name]?.(args as never, bytes)
      if (served === undefined) return
      receive('settle', id, 0, JSON.stringify(served.value) ?? 'null', toWire(served.bytes))
    } catch (error) {
      const { name, message } = error as Error
      receive('reject', id, 0, JSON.stringify({ name, message }))
    }
  }

  // A body that the guest streams, by its stream: 0 is that of the answer, another that of the call of that number.
  const streamed = new Map<string, { chunks: Uint8Array[]; ended: (bytes: Uint8Array) => void }>()
  const collect = (id: number, stream: number, ended: (bytes: Uint8Array) => void): void => {
    streamed.set(`${id}/${stream}`, { chunks: [], ended })
    setImmediate(() => receive('pull', id, stream))
  }
  const finish = (id: number, result: DispatchResult, bytes: Uint8Array): void =>
    answers.get(id)?.({ id, result, bytes, text: new TextDecoder().decode(bytes) })

  /** The guest would catch an error that is thrown here, and the test would not fail. */
  const readPost = (kind: number, id: number, number: number, text: string): Post | undefined => {
    try {
      return toPost(kind, id, number, text)
    } catch (error) {
      failures.push(error as Error)
      return undefined
    }
  }

  const onPost = (kind: number, id: number, number: number, text = '', body?: string | ArrayBuffer): void => {
    const bytes =
      typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body ?? new ArrayBuffer(0))
    const said = readPost(kind, id, number, text)
    if (said === undefined) return
    posts.push(said)
    switch (said.kind) {
      case 'answer':
        if (number === answered.done) doneWaiters.get(id)?.()
        if (number !== answered.streams) return finish(id, said.result, bytes)
        return collect(id, 0, (whole) => finish(id, said.result, whole))
      case 'chunk':
        streamed.get(`${id}/${number}`)?.chunks.push(bytes)
        return void setImmediate(() => receive('pull', id, number))
      case 'end': {
        const body = streamed.get(`${id}/${number}`)
        return body?.ended(Buffer.concat(body.chunks))
      }
      case 'fail':
        return finish(id, { kind: 'error', error: { name: 'Error', message: text } }, bytes)
      case 'done':
        return doneWaiters.get(id)?.()
      case 'log':
        logs.push(said)
        return
      case 'call':
        if (number === 1) {
          return collect(lastId, id, (whole) => void answerCall(id, said.name, said.args, exact(whole)))
        }
        return void answerCall(id, said.name, said.args, bytes.byteLength > 0 ? exact(bytes) : undefined)
      case 'timer':
        timers.set(
          id,
          setTimeout(() => receive('fire', id, 0), number),
        )
        return
      case 'clearTimer':
        return clearTimeout(timers.get(id))
    }
  }

  const boot = context.global.getSync('__annexBoot', { reference: true })
  const booted = boot.applySync(
    undefined,
    [new ivm.Callback(onPost), new ivm.Callback(answerAsk), given.allowEval],
    {
      result: { reference: true },
    },
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
    dispatch(given, body) {
      lastId += 1
      const id = lastId
      const { promise, resolve } = Promise.withResolvers<Answer>()
      answers.set(id, resolve)
      const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
      const { environment = {}, ...rest } = typeof given === 'string' ? {} : given
      const text = typeof given === 'string' ? given : JSON.stringify({ event: { type: 'test' }, ...rest })
      receive('environment', id, 0, JSON.stringify(environment))
      receive('dispatch', id, id, text, toWire(bytes))
      return promise
    },
    done(id) {
      if (posts.some((post) => isDone(post) && 'id' in post && post.id === id)) return Promise.resolve()
      return new Promise((resolve) => doneWaiters.set(id, resolve))
    },
    close() {
      for (const timer of timers.values()) clearTimeout(timer)
      crypto.close()
      if (!isolate.isDisposed) isolate.dispose()
    },
  }
}

const exact = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer as ArrayBuffer

/** A post with names in place of numbers. */
const toPost = (kind: number, id: number, number: number, text: string): Post => {
  const name = (Object.keys(post) as (keyof typeof post)[]).find((key) => post[key] === kind)
  switch (name) {
    case 'answer':
      return { kind: name, id, result: JSON.parse(text), done: number === answered.done }
    case 'call': {
      const end = text.indexOf('\n')
      return { kind: name, id, name: text.slice(0, end), args: JSON.parse(text.slice(end + 1)) }
    }
    case 'log':
      return { kind: name, dispatch: id, level: logLevels[number] ?? 'none', text }
    case undefined:
      throw new Error(`a post of kind ${kind}`)
    default:
      return { kind: name, id, number }
  }
}

const isDone = (post: Post): boolean => post.kind === 'done' || (post.kind === 'answer' && post.done)

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
