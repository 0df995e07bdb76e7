import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import fc from 'fast-check'
import { keepAlive, toServerEvent } from '../../host/api/delivery-feed.ts'
import { readServerEvents } from '../../host/cli/client.ts'

async function read(...pieces: (string | Uint8Array)[]) {
  const encoder = new TextEncoder()
  const bytes = pieces.map((piece) => (typeof piece === 'string' ? encoder.encode(piece) : piece))
  const found = []
  for await (const { event, data, lastEventId } of readServerEvents(
    (async function* () {
      yield* bytes
    })(),
  )) {
    found.push([event, data, lastEventId])
  }
  return found
}

test('the examples of the standard are parsed correctly', async () => {
  assert.deepEqual(await read('data: YHOO\ndata: +2\ndata: 10\n\n'), [['message', 'YHOO\n+2\n10', '']])
  assert.deepEqual(
    await read(
      ': test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n',
    ),
    [
      ['message', 'first event', '1'],
      ['message', 'second event', ''],
      ['message', ' third event', ''],
    ],
  )
  assert.deepEqual(await read('data\n\ndata\ndata\n\ndata:'), [
    ['message', '', ''],
    ['message', '\n', ''],
  ])
  assert.deepEqual(await read('\ufeffdata: a\r\n\r', '\ndata: b\r\rdata: c\n\n'), [
    ['message', 'a', ''],
    ['message', 'b', ''],
    ['message', 'c', ''],
  ])
})

test('the host’s events are parsed from chunks of any size', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.integer({ min: 1, max: 7 }), async (data, size) => {
      const text = `${toServerEvent({ event: 'attempt', data, id: 'att_1' })}${keepAlive}`
      const bytes = new TextEncoder().encode(text)
      const pieces = []
      for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
      const [[event, said, id] = []] = await read(...pieces)
      assert.deepEqual([event, said, id], ['attempt', JSON.stringify(data), 'att_1'])
    }),
  )
})

test('an id without an event is a cursor, not an event', async () => {
  const cursors: string[] = []
  const text = 'retry: 1000\nid: att_1\n\n:\n\nid: att_2\ndata: a\n\n'
  const events = []
  for await (const { data } of readServerEvents(Readable.from([Buffer.from(text)]), (id) =>
    cursors.push(id),
  )) {
    events.push(data)
  }
  assert.deepEqual([events, cursors[0]], [['a'], 'att_1'])
})

test('fields, line ends and cursors are read the same from chunks of any size', async () => {
  const cases: [text: string, events: string[][], cursors: string[]][] = [
    ['id: 1\r\ndata: a\r\n\r\n', [['message', 'a', '1']], []],
    ['id: 1\rdata: a\r\rid: 2\r\r', [['message', 'a', '1']], ['2']],
    ['id: a\0b\ndata: x\n\n', [['message', 'x', '']], []],
    ['id: 1\nid: 2\n\ndata: x\n\n', [['message', 'x', '2']], ['2']],
    ['id: 1\n\nid\n\ndata: x\n\n', [['message', 'x', '']], ['1']],
    [
      'event: \ndata: x\n\nevent: b\n\ndata: y\n\n',
      [
        ['message', 'x', ''],
        ['message', 'y', ''],
      ],
      [],
    ],
    ['Data: x\n\nfoo: y\n\n data: z\n\n', [], []],
    ['data: unfinished\nid: 9', [], []],
    ['data: é漢🎉\n\n', [['message', 'é漢🎉', '']], []],
    ['', [], []],
  ]
  for (const [text, events, cursors] of cases) {
    const bytes = new TextEncoder().encode(text)
    for (let size = 1; size <= bytes.length + 1; size += 1) {
      const pieces = []
      for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
      const found: string[] = []
      const read = readServerEvents(Readable.from(pieces), (id) => found.push(id))
      const all: string[][] = []
      for await (const { event, data, lastEventId } of read) all.push([event, data, lastEventId])
      assert.deepEqual([all, found], [events, cursors], `${JSON.stringify(text)} by ${size}`)
    }
  }
})

test('an endless line or event is an error, after the events before it', async () => {
  const mebibyte = 'x'.repeat(1024 * 1024)
  for (const endless of [mebibyte, `${mebibyte}\ndata: `]) {
    const seen: string[] = []
    const pieces = function* () {
      yield Buffer.from('data: first\n\ndata: ')
      for (let count = 0; count < 8; count += 1) yield Buffer.from(endless)
    }
    const readAll = async () => {
      for await (const { data } of readServerEvents(Readable.from(pieces()))) seen.push(data)
    }
    await assert.rejects(readAll, /exceeded max buffer size/)
    assert.deepEqual(seen, ['first'])
  }
})

test('a number in `retry` is the wait before the next connection, and other text is ignored', async () => {
  const text = 'retry: soon\ndata: a\n\nretry: 250\ndata: b\n\nretry: -1\ndata: c\n\n'
  const waits: (number | undefined)[] = []
  for await (const { retryMs } of readServerEvents(Readable.from([Buffer.from(text)]))) waits.push(retryMs)
  assert.deepEqual(waits, [undefined, 250, 250])
})
