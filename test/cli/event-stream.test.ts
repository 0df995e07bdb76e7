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

test('the examples of the standard are parsed as it says', async () => {
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
  const places: string[] = []
  const text = 'retry: 1000\nid: att_1\n\n:\n\nid: att_2\ndata: a\n\n'
  const events = []
  for await (const { data } of readServerEvents(Readable.from([Buffer.from(text)]), (id) =>
    places.push(id),
  )) {
    events.push(data)
  }
  assert.deepEqual([events, places[0]], [['a'], 'att_1'])
})
