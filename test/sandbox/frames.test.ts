import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { checkHeader, parsePost } from '../../host/sandbox/process/check-frame.ts'
import { createFrameReader, type Frame, writeFrame } from '../../runtime/process/frame.ts'

/** The bytes of frames, as they go over the wire. */
async function bytesOf(write: (stream: PassThrough) => void): Promise<Buffer> {
  const stream = new PassThrough()
  write(stream)
  await new Promise(setImmediate)
  stream.end()
  return Buffer.concat(await stream.toArray())
}

const frames: [object, string, Uint8Array][] = [
  [{ type: 'a' }, '', new Uint8Array(0)],
  [{ type: 'b', text: 'ü' }, '{"text":"ü😀"}', new Uint8Array([0, 1, 255])],
  [{ type: 'c' }, 'x'.repeat(70_000), new Uint8Array(200_000).fill(7)],
]

describe('frames', () => {
  it('come out as they went in, however the bytes are cut', async () => {
    const bytes = await bytesOf((stream) => {
      for (const [header, text, body] of frames) writeFrame(stream, header, text, body)
    })
    for (const size of [1, 3, 1000, 65_536, bytes.length]) {
      const seen: Frame[] = []
      const read = createFrameReader(1_000_000, (frame) => seen.push(frame))
      for (let at = 0; at < bytes.length; at += size) read(bytes.subarray(at, at + size))
      assert.deepEqual(
        seen.map(({ header, text, body }) => [header, text, new Uint8Array(body)]),
        frames,
        `in pieces of ${size}`,
      )
    }
  })

  it('over the limit, or whose parts contradict each other, throw', () => {
    const read = (...words: number[]) =>
      createFrameReader(1000, () => assert.fail('no frame'))(Buffer.from(new Uint32Array(words).buffer))
    assert.throws(() => read(2_000_000_000, 0, 0), /frame of 2000000000 bytes; the limit is 1000/)
    assert.throws(() => read(4), /frame of 4 bytes/)
    assert.throws(() => read(8, 500, 0), /longer than the frame/)
    assert.throws(() => read(8, 0, 0), SyntaxError)
  })
})

describe('what a sandbox process sends', () => {
  const wrong: [string, () => unknown][] = [
    ['a type that there is not', () => checkHeader({ type: 'shell', command: 'id' })],
    ['a field that does not belong', () => checkHeader({ type: 'loaded', sandbox: 1, path: '/etc' })],
    ['a number that is none', () => checkHeader({ type: 'loaded', sandbox: -1 })],
    ['no object', () => checkHeader('ready')],
    ['nothing', () => checkHeader(null)],
    [
      'a status that is none',
      () =>
        parsePost('{"kind":"answer","id":1,"result":{"kind":"response","head":{"status":99,"headers":[]}}}'),
    ],
    [
      'headers that are no pairs',
      () =>
        parsePost(
          '{"kind":"answer","id":1,"result":{"kind":"response","head":{"status":200,"headers":[["a"]]}}}',
        ),
    ],
    ['a log level that is none', () => parsePost('{"kind":"log","dispatch":0,"level":"fatal","text":""}')],
    ['half a JSON text', () => parsePost('{"kind":"done"')],
  ]
  for (const [name, send] of wrong) {
    it(`is refused: ${name}`, () => assert.throws(() => assert.ok(send())))
  }

  it('is taken when it is right', () => {
    assert.deepEqual(checkHeader({ type: 'loaded', sandbox: 1 }), { type: 'loaded', sandbox: 1 })
    assert.deepEqual(parsePost('{"kind":"done","id":3}'), { kind: 'done', id: 3 })
  })
})
