/**
 * The sandbox process. The host starts it with an empty environment and no permission to anything but its own
 * code, talks to it over the socketpair on fd 3, and reads its black box on fd 4.
 */
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import type ivm from 'isolated-vm'
import { message } from '../wire-kinds.ts'
import { createBlackBox } from './black-box.ts'
import { createCryptoTurns } from './crypto/crypto-turns.ts'
import { createFrameReader, createFrameWriter, type Frame } from './frame.ts'
import { createCpuClock } from './isolate/cpu-clock.ts'
import { describeGuestError } from './isolate/guest-stack.ts'
import { createPlatform, openPlatform } from './isolate/platform.ts'
import { createSandbox, type Sandbox } from './isolate/sandbox.ts'
import { createStock, type Stock } from './isolate/isolate-pool.ts'
import { type LoadOptions, toHost, toProcess, withStream } from './messages.ts'

const maxFrameBytes = 128 * 1024 * 1024
const stuckMs = 40

const engine: typeof ivm = createRequire(import.meta.url)('isolated-vm')
const host = new Socket({ fd: 3, readable: true, writable: true })
const out = createFrameWriter((bytes) => host.write(bytes))
const blackBox = createBlackBox(4)
const cpuClock = createCpuClock()
const cryptoTurns = createCryptoTurns()
const sandboxes = new Map<number, Sandbox>()
let stock: Stock | undefined
let begun = 0
/** Whose words wait to be sent. */
let speaking = 0
/** After a stretch that kept the others waiting: what has not begun may be given elsewhere, and waits for word. */
let held: Frame[] | undefined
/** Words that are still to come: one for each time that the host was told. What it gave elsewhere stands before the last. */
let words = 0

const read = createFrameReader(maxFrameBytes, receive)
host.on('data', (chunk: Buffer) => {
  read(chunk)
  endBatch()
})
// The host is gone, however it went: nobody is left to work for.
host.on('close', () => process.kill(process.pid, 'SIGKILL'))
host.on('error', () => process.kill(process.pid, 'SIGKILL'))
// The host decides when its scripts have come to their end: systemd sends SIGTERM to all processes of a service.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})

/**
 * What an isolate has said leaves before another one runs, which may end this process, and when there is nothing
 * more to do. In between it is kept, for the fewer system calls.
 */
function endBatch(): void {
  wasStuck(blackBox.leave())
  out.flush()
  stock?.refill()
}

/** A longer stretch is told to the host, which may have given elsewhere what waited behind it: nothing begins before its word. */
function wasStuck(ms: number): boolean {
  if (ms < stuckMs) return false
  held ??= []
  words += 1
  out.write({ type: toHost.stuck, number: Math.round(ms) })
  return true
}

function receive(frame: Frame): void {
  switch (frame.type) {
    case toProcess.platform:
      return start(frame)
    case toProcess.load:
      return load(frame)
    case toProcess.unload:
      sandboxes.get(frame.sandbox)?.close()
      sandboxes.delete(frame.sandbox)
      return
    case toProcess.ping:
      cpuClock.setCompetition(frame.number / 100)
      return out.write({ type: toHost.pong })
    case toProcess.forget:
      held = held?.filter(({ dispatch }) => dispatch === 0 || dispatch !== frame.dispatch)
      return forget(frame)
    case toProcess.goOn:
      return goOn()
    case toProcess.environment:
    case toProcess.dispatch:
    case toProcess.leave:
      if (held === undefined) begin(frame)
      else held.push(frame)
      return
    default:
      return deliver(frame)
  }
}

function begin(frame: Frame): void {
  const sandbox = sandboxes.get(frame.sandbox)
  if (sandbox === undefined) return
  // Before it is noted as begun: behind a stretch that was seen to take long it may run elsewhere by now.
  if (blackBox.seen() >= stuckMs && wasStuck(blackBox.leave())) {
    held?.push(frame)
    return
  }
  if (frame.type === toProcess.environment) return sandbox.setEnvironment(frame)
  if (frame.type === toProcess.leave) return sandbox.deliver(message.leave, frame.dispatch, 0, frame)
  const kind = frame.flags === withStream ? message.dispatchWithStream : message.dispatch
  const before = begun
  // Told with a sandbox that breaks, which this may be the end of.
  begun = frame.dispatch
  if (sandbox.begin(kind, frame)) return
  begun = before
  // Should the process end now, it runs elsewhere.
  blackBox.takeBack(before)
  held?.push(frame)
}

function goOn(): void {
  // A timer may have kept the others waiting once more: this word was given before the host could see that.
  words -= 1
  if (words > 0) return
  const frames = held ?? []
  held = undefined
  for (const frame of frames) {
    // One of them may have kept the rest waiting in its turn.
    if (held === undefined) begin(frame)
    else (held as Frame[]).push(frame)
  }
}

/** What is for a guest, and passes through. */
function deliver(frame: Frame): void {
  const { type, dispatch, number, flags } = frame
  const sandbox = sandboxes.get(frame.sandbox)
  switch (type) {
    case toProcess.settle:
      return sandbox?.deliver(message.settle, number, flags, frame)
    case toProcess.reject:
      return sandbox?.deliver(message.reject, number, 0, frame)
    case toProcess.chunk:
      return sandbox?.deliver(message.chunk, dispatch, number, frame)
    case toProcess.end:
      return sandbox?.deliver(message.end, dispatch, number, frame)
    case toProcess.fail:
      return sandbox?.deliver(message.fail, dispatch, number, frame)
    case toProcess.pull:
      return sandbox?.deliver(message.pull, dispatch, number, frame)
    case toProcess.cancel:
      return sandbox?.deliver(message.cancel, dispatch, number, frame)
  }
}

function start({ text, body, number: heapMb }: Frame): void {
  const platform = body.length > 0 ? openPlatform(engine, body) : createPlatform(engine, text)
  stock = createStock(engine, platform, heapMb)
  out.write({ type: toHost.ready, number: platform.snapshot === undefined ? 0 : 1 })
}

function load(frame: Frame): void {
  const number = frame.sandbox
  speak(number)
  wasStuck(blackBox.leave())
  try {
    if (stock === undefined) throw new Error('load before platform')
    const sandbox = createSandbox({
      engine,
      blank: stock.take(),
      number,
      bundle: frame.body.toString('utf8'),
      options: JSON.parse(frame.text) as LoadOptions,
      blackBox,
      cpuClock,
      cryptoTurns,
      reports: {
        send: out.write,
        beforeStretch: () => speak(number),
        afterOwnStretch: endBatch,
        wasStuck,
        broken(reason, dispatch, message, body) {
          sandboxes.delete(number)
          const text = `${reason}\n${message}`
          out.write({ type: toHost.broken, sandbox: number, dispatch, number: begun, text, body })
        },
      },
    })
    sandboxes.set(number, sandbox)
    out.write({ type: toHost.loaded, sandbox: number })
  } catch (error) {
    const text = JSON.stringify(describeGuestError(error))
    out.write({ type: toHost.loadFailed, sandbox: number, text })
  }
  wasStuck(blackBox.leave())
}

function forget({ sandbox, dispatch }: Frame): void {
  const used = sandboxes.get(sandbox)?.forget(dispatch)
  if (used !== undefined) out.write({ type: toHost.used, sandbox, dispatch, ...used })
}

function speak(sandbox: number): void {
  if (speaking === sandbox) return
  speaking = sandbox
  out.flush()
}
