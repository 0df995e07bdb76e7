/**
 * A sandbox process that somebody has taken over: it has the socket, the black box and nothing to lose. The first
 * argument names what it does. Frames are written by hand, as an attacker would.
 */
import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { createFrameReader } from '../../../runtime/process/frame.ts'

const host = new Socket({ fd: 3, readable: true, writable: true })
host.on('error', () => process.exit())
host.on('close', () => process.exit())

const bytesOf = (...words: number[]): Buffer => {
  const bytes = Buffer.alloc(words.length * 4)
  words.forEach((word, index) => {
    bytes.writeUInt32LE(word, index * 4)
  })
  return bytes
}

const frame = (header: unknown, text = '', body = ''): Buffer => {
  const parts = [JSON.stringify(header), text, body].map((part) => Buffer.from(part))
  const [headerBytes = 0, textBytes = 0, bodyBytes = 0] = parts.map(({ length }) => length)
  return Buffer.concat([bytesOf(8 + headerBytes + textBytes + bodyBytes, headerBytes, textBytes), ...parts])
}

const post = (sandbox: number, dispatch: number, value: unknown): Buffer =>
  frame({ type: 'post', sandbox, dispatch }, JSON.stringify(value))

const answer = (id: number): unknown => ({
  kind: 'answer',
  id,
  done: true,
  result: { kind: 'response', head: { status: 200, headers: [] } },
})

const pong = (header: { type: string }): void => {
  if (header.type === 'ping') host.write(frame({ type: 'pong' }))
}

/** Reads what the host says, and does something at each dispatch. */
const atDispatch = (act: (sandbox: number, id: number) => void): void => {
  host.on(
    'data',
    createFrameReader(2 ** 31, ({ header }) => {
      const given = header as { type: string; sandbox: number; id: number }
      pong(given)
      if (given.type === 'dispatch') act(given.sandbox, given.id)
    }),
  )
}

/** Writes as fast as the host takes it. */
const flood = (make: () => Buffer): void => {
  const chunk = Buffer.concat(Array.from({ length: 500 }, make))
  const more = (): void => {
    while (host.write(chunk));
    host.once('drain', more)
  }
  more()
}

/** Tells the watchdog that guest code runs, and each time another one. */
const lieToTheWatchdog = (): void => {
  let stretch = 0
  setInterval(() => {
    stretch += 1
    writeSync(4, bytesOf(0, 1, 1, stretch), 0, 16, 0)
  }, 10)
}

const acts: Record<string, () => void> = {
  nothing: () => host.pause(),
  'nothing-and-lies': () => {
    host.pause()
    lieToTheWatchdog()
  },
  honest: () => atDispatch((sandbox, id) => host.write(post(sandbox, id, answer(id)))),
  'garbage-at-once': () => host.write(Buffer.alloc(100_000, 0xaa)),
  'frame-of-2-gb': () => host.write(bytesOf(2_147_483_647, 10, 10)),
  'frame-of-4-gb': () => host.write(bytesOf(4_294_967_295, 10, 10)),
  'frame-of-nothing': () => host.write(bytesOf(0, 0, 0)),
  'lengths-that-contradict': () => host.write(bytesOf(20, 4_294_967_295, 1)),
  'lengths-that-wrap-around': () => host.write(bytesOf(16, 4_294_967_288, 16, 0, 0)),
  'header-that-is-no-json': () => host.write(Buffer.concat([bytesOf(12, 4, 0), Buffer.from('{{{{')])),
  'header-with-a-prototype': () =>
    host.write(
      Buffer.concat([
        bytesOf(8 + 58, 58, 0),
        Buffer.from('{"type":"pong","__proto__":{"polluted":1},"constructor":1}'),
      ]),
    ),
  'header-of-great-depth': () => {
    const text = '['.repeat(1_000_000)
    host.write(Buffer.concat([bytesOf(8 + text.length, text.length, 0), Buffer.from(text)]))
  },
  'half-a-frame': () => host.write(Buffer.concat([bytesOf(1_000_000, 4, 0), Buffer.from('{}')])),
  'half-a-frame-and-lies': () => {
    host.write(Buffer.concat([bytesOf(1_000_000, 4, 0), Buffer.from('{}')]))
    host.resume()
    lieToTheWatchdog()
  },
  'closes-its-socket': () => atDispatch(() => host.destroy()),
  'ends-its-writing': () => atDispatch(() => host.end()),
  exits: () => atDispatch(() => process.exit(0)),
  'answers-of-others': () =>
    atDispatch((sandbox, id) => {
      for (let other = 0; other < 100; other++) host.write(post(sandbox + 1, other, answer(other)))
      host.write(post(sandbox, id + 1, answer(id + 1)))
    }),
  'post-for-another-sandbox': () =>
    atDispatch((sandbox, id) => host.write(post(sandbox + 1, id, answer(id)))),
  'settles-what-nobody-asked': () =>
    atDispatch((sandbox, id) => {
      for (let call = 0; call < 100; call++) host.write(post(sandbox, id, { kind: 'abort', id: call }))
      for (let other = 0; other < 100; other++)
        host.write(post(sandbox, 4_000_000_000 + other, { kind: 'done', id: 1 }))
      host.write(post(sandbox, id, answer(id)))
      for (let again = 0; again < 100; again++) host.write(post(sandbox, id, answer(id)))
    }),
  'breaks-again-and-again': () =>
    atDispatch((sandbox) =>
      host.write(frame({ type: 'broken', sandbox, reason: 'crashed', dispatch: 0, begun: 0, message: '' })),
    ),
  'loads-and-fails-for-all': () =>
    atDispatch(() => {
      for (let sandbox = 0; sandbox < 1000; sandbox++) {
        host.write(
          frame({ type: 'load-failed', sandbox, error: { name: 'x', message: 'y', stack: '/etc/passwd' } }),
        )
      }
    }),
  'small-frames': () => flood(() => frame({ type: 'pong' })),
  'small-frames-and-lies': () => {
    lieToTheWatchdog()
    flood(() => frame({ type: 'pong' }))
  },
  'logs-of-nobody': () => {
    atDispatch(() => {})
    flood(() => post(1, 0, { kind: 'log', dispatch: 0, level: 'info', text: 'x'.repeat(1000) }))
  },
  'calls-and-never-reads': () => {
    host.pause()
    lieToTheWatchdog()
    flood(() => post(1, 1, { kind: 'call', id: 1, dispatch: 1, name: 'x'.repeat(100), args: {} }))
  },
}

acts[process.argv[2] ?? '']?.()
