/**
 * A sandbox process in the hands of an attacker: it has the socket, the black box and nothing to lose. The first
 * argument names what it does. Frames are written by hand, as an attacker would.
 */
import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { createFrameReader } from '../../../runtime/process/frame.ts'
import { toHost, toProcess } from '../../../runtime/process/messages.ts'
import { answered, logLevels } from '../../../runtime/wire-kinds.ts'

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

/** Words of a frame's head: sandbox, dispatch, number, extra. */
const frame = (type: number, [sandbox = 0, dispatch = 0, number = 0]: number[] = [], text = ''): Buffer =>
  Buffer.concat([
    bytesOf(24 + text.length, type, sandbox, dispatch, number, 0, text.length),
    Buffer.from(text),
  ])

const answer = (sandbox: number, dispatch: number): Buffer =>
  frame(
    toHost.answer | (answered.done << 8),
    [sandbox, dispatch],
    '{"kind":"response","head":{"status":200,"headers":[]}}',
  )

/** Reads what the host says, and does something at each dispatch. */
const atDispatch = (act: (sandbox: number, id: number) => void): void => {
  host.on(
    'data',
    createFrameReader(2 ** 31, ({ type, sandbox, dispatch }) => {
      if (type === toProcess.ping) host.write(frame(toHost.pong))
      if (type === toProcess.dispatch) act(sandbox, dispatch)
    }),
  )
}

/** Without a read the process would end on its own: on a busy machine before the host has read its frames. */
const writeAndStay = (bytes: Buffer): void => {
  host.resume()
  host.write(bytes)
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
  honest: () => atDispatch((sandbox, id) => host.write(answer(sandbox, id))),
  'garbage-at-once': () => writeAndStay(Buffer.alloc(100_000, 0xaa)),
  'frame-of-2-gb': () => writeAndStay(bytesOf(2_147_483_647, toHost.pong, 10)),
  'frame-of-4-gb': () => writeAndStay(bytesOf(4_294_967_295, toHost.pong, 10)),
  'frame-of-nothing': () => writeAndStay(bytesOf(0, 0, 0)),
  'lengths-that-contradict': () => writeAndStay(bytesOf(24, toHost.pong, 0, 0, 0, 0, 4_294_967_295)),
  'type-that-there-is-not': () => atDispatch((sandbox, id) => host.write(frame(99, [sandbox, id]))),
  'type-that-there-is-not-later': () =>
    host.on(
      'data',
      createFrameReader(2 ** 31, ({ type, sandbox, dispatch }) => {
        if (type === toProcess.forget) host.write(frame(99, [sandbox, dispatch]))
      }),
    ),
  'answer-with-a-prototype': () =>
    atDispatch((sandbox, id) =>
      host.write(
        frame(toHost.answer, [sandbox, id], '{"kind":"none","__proto__":{"polluted":1},"constructor":1}'),
      ),
    ),
  'answer-of-great-depth': () =>
    atDispatch((sandbox, id) =>
      host.write(frame(toHost.answer, [sandbox, id], `{"kind":"value","value":${'['.repeat(1_000_000)}`)),
    ),
  'unrequested-chunks': () =>
    atDispatch((sandbox, id) => {
      host.write(frame(toHost.answer | (answered.streams << 8), [sandbox, id], '{"kind":"none"}'))
      flood(() => frame(toHost.chunk, [sandbox, id, 0]))
    }),
  'half-a-frame': () => host.write(Buffer.concat([bytesOf(1_000_000, toHost.pong, 0), Buffer.from('{}')])),
  'half-a-frame-and-lies': () => {
    host.write(Buffer.concat([bytesOf(1_000_000, toHost.pong, 0), Buffer.from('{}')]))
    host.resume()
    lieToTheWatchdog()
  },
  'closes-its-socket': () => atDispatch(() => host.destroy()),
  'ends-its-writing': () => atDispatch(() => host.end()),
  exits: () => atDispatch(() => process.exit(0)),
  'answers-of-others': () =>
    atDispatch((sandbox, id) => {
      for (let other = 0; other < 100; other++) host.write(answer(sandbox + 1, other))
      host.write(answer(sandbox, id + 1))
    }),
  'post-for-another-sandbox': () => atDispatch((sandbox, id) => host.write(answer(sandbox + 1, id))),
  'settles-unasked': () =>
    atDispatch((sandbox, id) => {
      for (let call = 0; call < 100; call++) host.write(frame(toHost.abort, [sandbox, id, call]))
      for (let other = 0; other < 100; other++)
        host.write(frame(toHost.done, [sandbox, 4_000_000_000 + other]))
      host.write(answer(sandbox, id))
      for (let again = 0; again < 100; again++) host.write(answer(sandbox, id))
    }),
  'breaks-again-and-again': () =>
    atDispatch((sandbox) => host.write(frame(toHost.broken, [sandbox], 'crashed\n'))),
  'loads-and-fails-for-all': () =>
    atDispatch(() => {
      for (let sandbox = 0; sandbox < 1000; sandbox++) {
        host.write(frame(toHost.loadFailed, [sandbox], '{"name":"x","message":"y","stack":"/etc/passwd"}'))
      }
    }),
  'small-frames': () => flood(() => frame(toHost.pong)),
  'small-frames-and-lies': () => {
    lieToTheWatchdog()
    flood(() => frame(toHost.pong))
  },
  'logs-without-a-dispatch': () => {
    atDispatch(() => {})
    flood(() => frame(toHost.log, [1, 0, logLevels.indexOf('info')], 'x'.repeat(1000)))
  },
  'calls-and-never-reads': () => {
    host.pause()
    lieToTheWatchdog()
    flood(() => frame(toHost.call, [1, 1, 1], `${'x'.repeat(100)}\n{}`))
  },
}

acts[process.argv[2] ?? '']?.()
