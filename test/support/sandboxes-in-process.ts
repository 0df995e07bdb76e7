import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Duplex } from 'node:stream'
import type ivm from 'isolated-vm'
import {
  type StartedProcess,
  type StartProcess,
  toBlackBoxRecord,
} from '../../host/sandbox/process/start-process.ts'
import { starved, timedOut } from '../../host/sandbox/sandbox-errors.ts'
import { blackBoxBytes, createBlackBox } from '../../runtime/process/black-box.ts'
import { createFrameReader } from '../../runtime/process/frame.ts'
import { toHost } from '../../runtime/process/messages.ts'
import { createSandboxServer } from '../../runtime/process/sandbox-server.ts'

const advice = "Its file has to start Annex with sandboxes: 'processes'."
const mostFrameBytes = 1024 ** 3

/**
 * Runs sandboxes in the test's own process, in place of a sandbox process: the same code, frames and limits, without the wall.
 * A script that breaks V8 ends the process of the test.
 *
 * @param onBroken gets the error of a script that breaks its sandbox. Default: the test fails with it
 */
export function createStartInProcess(onBroken: (error: Error) => void = throwLater): StartProcess {
  if (!process.execArgv.includes('--no-node-snapshot'))
    throw new Error(`Isolates in the process of a test need node --no-node-snapshot. ${advice}`)
  exitBeforeFinalizers()
  const engine: typeof ivm = createRequire(import.meta.url)('isolated-vm')
  return () => startInProcess(engine, onBroken)
}

function startInProcess(engine: typeof ivm, onBroken: (error: Error) => void): StartedProcess {
  const [hostEnd, sandboxEnd] = createStreamPair()
  const record = Buffer.alloc(blackBoxBytes)
  const server = createSandboxServer({
    engine,
    stream: sandboxEnd,
    blackBox: createBlackBox((from, at, bytes) => void from.copy(record, at, at, at + bytes)),
    onCatastrophe() {
      writeSync(2, `A script broke V8 in the process of its test. ${advice}\n`)
      process.kill(process.pid, 'SIGKILL')
    },
  })
  const readFrames = createFrameReader(mostFrameBytes, ({ type, text }) => {
    if (!isBroken(type, text)) return
    onBroken(new Error(`A script broke its sandbox in the process of its test: ${text}. ${advice}`))
  })
  hostEnd.on('data', readFrames)
  const { promise: exited, resolve } = Promise.withResolvers<NodeJS.Signals>()
  return {
    // Its priority is the test's own.
    pid: undefined,
    stream: hostEnd,
    exited,
    readBlackBox: () => toBlackBoxRecord(record),
    residentBytes: () => 0,
    processorUse: () => undefined,
    kill() {
      server.close()
      hostEnd.destroy()
      sandboxEnd.destroy()
      resolve('SIGKILL')
    },
    close() {},
  }
}

/** Not into the stream: the host would take it for a fault of the connection. */
function throwLater(error: Error): void {
  process.nextTick(() => {
    throw error
  })
}

/** Two ends of one stream. A chunk arrives in a later turn of the event loop, as from a socket. */
export function createStreamPair(): [Duplex, Duplex] {
  const resumeWrite: [() => void, () => void] = [() => {}, () => {}]
  const createEnd = (own: 0 | 1, other: 0 | 1): Duplex =>
    new Duplex({
      read() {
        const resume = resumeWrite[own]
        resumeWrite[own] = () => {}
        resume()
      },
      write(chunk, _encoding, done) {
        setImmediate(() => {
          if (ends[other].destroyed) return
          resumeWrite[other] = done
          ends[other].push(chunk)
        })
      },
    })
  const ends: [Duplex, Duplex] = [createEnd(0, 1), createEnd(1, 0)]
  return ends
}

/** Also `starved`: on a busy machine an endless loop has used little of its CPU time when its wall time is over. */
function isBroken(type: number, text: string): boolean {
  if (type === toHost.loadFailed) return text.includes(timedOut) || text.includes(starved)
  return type === toHost.broken
}

let exits = false

/**
 * The finalizers of isolates would run in Node's own end, where isolated-vm aborts at times. Node prints an uncaught error after
 * this event.
 */
function exitBeforeFinalizers(): void {
  if (exits) return
  exits = true
  process.once('exit', (code) => {
    if (code === 0) process.exit()
  })
}
