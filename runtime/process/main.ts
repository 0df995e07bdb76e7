/**
 * The sandbox process. The host starts it with an empty environment and no permission to anything but its own
 * code, talks to it over the socketpair on fd 3, and reads its black box on fd 4.
 */
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import type ivm from 'isolated-vm'
import { createBlackBox } from './black-box.ts'
import { createCryptoTurns } from './crypto/crypto-turns.ts'
import { createFrameReader, type Frame, writeFrame } from './frame.ts'
import { describeGuestError } from './guest-stack.ts'
import type { HostHeader, ProcessHeader } from './messages.ts'
import { createPlatform, type Platform } from './platform.ts'
import { createSandbox, type Sandbox } from './sandbox.ts'

const maxFrameBytes = 128 * 1024 * 1024

const engine: typeof ivm = createRequire(import.meta.url)('isolated-vm')
const host = new Socket({ fd: 3, readable: true, writable: true })
const blackBox = createBlackBox(4)
const cryptoTurns = createCryptoTurns()
const sandboxes = new Map<number, Sandbox>()
let platform: Platform | undefined
let begun = 0

host.on('data', createFrameReader(maxFrameBytes, receive))
// The host is gone, however it went: nobody is left to work for.
host.on('close', () => process.kill(process.pid, 'SIGKILL'))
host.on('error', () => process.kill(process.pid, 'SIGKILL'))

function send(header: ProcessHeader, text?: string, body?: Uint8Array): void {
  writeFrame(host, header, text, body)
}

/**
 * What a stretch of guest code has to say leaves in one piece at its end, and not later: the next stretch may be
 * another installation's, and end this process.
 */
function together(report: () => void): void {
  host.cork()
  try {
    report()
  } finally {
    host.uncork()
  }
}

function receive(frame: Frame): void {
  const header = frame.header as HostHeader
  switch (header.type) {
    case 'platform':
      platform = createPlatform(engine, frame.text)
      return send({ type: 'ready', snapshot: platform.snapshot !== undefined })
    case 'load':
      return load(header, frame.text)
    case 'dispatch':
      if (sandboxes.has(header.sandbox)) begun = header.id
      return sandboxes.get(header.sandbox)?.dispatch(header.id, frame.text, frame.body)
    case 'settle':
      return sandboxes.get(header.sandbox)?.settle(header.dispatch, frame.text, frame.body)
    case 'forget':
      return sandboxes.get(header.sandbox)?.forget(header.id)
    case 'ping':
      return send({ type: 'pong' })
    case 'unload':
      sandboxes.get(header.sandbox)?.close()
      sandboxes.delete(header.sandbox)
      return
  }
}

function load(header: Extract<HostHeader, { type: 'load' }>, bundle: string): void {
  const number = header.sandbox
  try {
    if (platform === undefined) throw new Error('load before platform')
    const sandbox = createSandbox({
      engine,
      platform,
      number,
      file: header.file,
      bundle,
      limits: { heapMb: header.heapMb, cpuMs: header.cpuMs, bodyBytes: header.bodyBytes },
      blackBox,
      cryptoTurns,
      reports: {
        post: (dispatch, text, body) => send({ type: 'post', sandbox: number, dispatch }, text, body),
        together,
        tooLarge: (dispatch) => send({ type: 'too-large', sandbox: number, dispatch }),
        broken: (reason, dispatch, message) => {
          sandboxes.delete(number)
          send({ type: 'broken', sandbox: number, reason, dispatch, begun, message })
        },
      },
    })
    sandboxes.set(number, sandbox)
    send({ type: 'loaded', sandbox: number })
  } catch (error) {
    send({ type: 'load-failed', sandbox: number, error: describeGuestError(error) })
  }
}
