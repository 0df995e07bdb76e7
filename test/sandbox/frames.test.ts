import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseBroken, parseError, parseResult } from '../../host/sandbox/process/connection.ts'
import {
  createFrameReader,
  createFrameWriter,
  type Frame,
  type FrameToWrite,
} from '../../runtime/process/frame.ts'
import { parseCall } from '../../runtime/process/messages.ts'

/** The bytes of frames, as they go over the wire. */
function bytesOf(frames: FrameToWrite[]): Buffer {
  const sent: Buffer[] = []
  const writer = createFrameWriter((bytes) => sent.push(bytes))
  for (const frame of frames) writer.write(frame)
  writer.flush()
  return Buffer.concat(sent)
}

const head = { flags: 0, sandbox: 0, dispatch: 0, number: 0, extra: 0 }
const frames = [
  { ...head, type: 1, text: '', body: new Uint8Array(0) },
  { ...head, type: 255, flags: 3, text: '{"text":"ü😀"}', body: new Uint8Array([0, 1, 255]) },
  {
    type: 2,
    flags: 1,
    sandbox: 4294967295,
    dispatch: 7,
    number: 8,
    extra: 9,
    text: 'x'.repeat(70_000),
    body: new Uint8Array(200_000).fill(7),
  },
  { ...head, type: 3, text: 'y'.repeat(30_000), body: new Uint8Array(0) },
  { ...head, type: 4, text: 'after', body: new Uint8Array(40_000).fill(1) },
]

describe('frames', () => {
  it('are read unchanged in chunks of any size', () => {
    const bytes = bytesOf(frames)
    for (const size of [1, 3, 1000, 65_536, bytes.length]) {
      const seen: Frame[] = []
      const read = createFrameReader(1_000_000, (frame) => seen.push(frame))
      for (let at = 0; at < bytes.length; at += size) read(bytes.subarray(at, at + size))
      const whole = seen.map((frame) => ({ ...frame, body: new Uint8Array(frame.body) }))
      assert.deepEqual(whole, frames, `in pieces of ${size}`)
    }
  })

  it('carry a text body as UTF-8', () => {
    const seen: Frame[] = []
    createFrameReader(1000, (frame) => seen.push(frame))(bytesOf([{ type: 1, body: 'ü😀\ud800' }]))
    assert.equal(seen[0]?.body.toString(), 'ü😀\ufffd')
  })

  it('above the limit or with contradicting lengths throw', () => {
    const read = (...words: number[]) =>
      createFrameReader(1000, () => assert.fail('no frame'))(Buffer.from(new Uint32Array(words).buffer))
    assert.throws(() => read(2_000_000_000, 0, 0), /frame of 2000000000 bytes; the limit is 1000/)
    assert.throws(() => read(23), /frame of 23 bytes/)
    assert.throws(() => read(24, 0, 0, 0, 0, 0, 500), /longer than the frame/)
  })
})

describe('a frame of a sandbox process', () => {
  const response = (head: string) => `{"kind":"response","head":${head}}`
  const wrong: [string, () => unknown][] = [
    ['an unknown result', () => parseResult('{"kind":"shell","command":"id"}')],
    ['an unknown field', () => parseResult('{"kind":"none","path":"/etc"}')],
    ['a text in place of an object', () => parseResult('"none"')],
    ['nothing', () => parseResult('')],
    ['an invalid status', () => parseResult(response('{"status":99,"headers":[]}'))],
    ['headers that are not pairs', () => parseResult(response('{"status":200,"headers":[["a"]]}'))],
    ['half a JSON text', () => parseResult('{"kind":"none"')],
    ['an error without a message', () => parseError('{"name":"Error"}')],
    ['a call without a name', () => parseCall('\n{}')],
    ['a call with arguments that are not JSON', () => parseCall('fetch\n{')],
    ['an unknown reason', () => parseBroken('bored\n')],
  ]
  for (const [name, send] of wrong) {
    it(`is refused: ${name}`, () => assert.throws(() => assert.ok(send())))
  }

  it('is accepted when it is valid', () => {
    assert.deepEqual(parseResult('{"kind":"none"}'), { kind: 'none' })
    assert.deepEqual(parseCall('fetch\n{"a":"\\n"}'), { name: 'fetch', args: { a: '\n' } })
    assert.deepEqual(parseBroken('cpu_limit\nover'), { reason: 'cpu_limit', message: 'over' })
  })
})
