import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { readServerEvents, type ServerEvent } from '../../host/cli/client.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { owe, senderPlugin, watchDeliveries } from '../support/sender.ts'

type Reader = {
  next: () => Promise<ServerEvent | undefined>
  close: () => void
  response: Response
  /** Ids that were sent without an event. */
  cursors: string[]
}

describe('the live feed', () => {
  const ends = new AsyncDisposableStack()
  let annex: Annex
  let token: string
  let endpoint: string
  before(async () => {
    annex = await startAnnex({ plugins: { sender: senderPlugin }, flags: { DELIVERY_RETRY_SECONDS: '1.5' } })
    ends.defer(annex.close)
    const { organization } = annex.server.samples
    token = (await annex.api('POST', `/v1/orgs/${organization}/tokens`, {})).json.token
    endpoint = (await installSample(annex, 'sender')).endpoint
  })
  after(() => ends.disposeAsync())

  const { receive } = watchDeliveries(ends, () => annex.api)

  function ask(query = '', headers: Record<string, string> = {}, bearer = token) {
    const aborting = new AbortController()
    const given = { authorization: `Bearer ${bearer}`, ...headers }
    const answered = fetch(`${annex.url}/v1/deliveries/feed?${query}`, {
      headers: given,
      signal: aborting.signal,
    })
    return { answered, close: () => aborting.abort() }
  }

  async function open(query = '', headers: Record<string, string> = {}): Promise<Reader> {
    const { answered, close } = ask(query, headers)
    const response = await answered
    assert.equal(response.status, 200)
    const cursors: string[] = []
    const events = readServerEvents(response.body ?? assert.fail('no body'), (id) => cursors.push(id))
    // The response is kept: `fetch` cancels the body of a collected one.
    return { next: async () => (await events.next()).value ?? undefined, close, response, cursors }
  }

  const read = async (
    reader: Reader,
    count: number,
  ): Promise<{ event: string; id: string; data: Json }[]> => {
    const found = []
    while (found.length < count) {
      const next = await reader.next()
      if (next === undefined) break
      found.push({ event: next.event, id: next.lastEventId, data: JSON.parse(next.data) })
    }
    return found
  }

  it('sends `pending`, each `attempt` and `settled`, in this order', async () => {
    const receiver = await receive(503, 200)
    const reader = await open('eventType=twice')
    const [id] = await owe(endpoint, { url: receiver.url, type: 'twice' })
    const events = await read(reader, 4)
    reader.close()
    assert.deepEqual(
      events.map(({ event }) => event),
      ['pending', 'attempt', 'attempt', 'settled'],
    )
    for (const { data } of events) assert.equal(data.delivery.id, id)
    const [owed, first, second, settled] = events
    assert.equal(owed?.id, id)
    assert.deepEqual([first?.data.attempt.number, first?.data.attempt.response.status], [1, 503])
    assert.equal(second?.data.previousStartedAt, first?.data.attempt.startedAt)
    assert.deepEqual([settled?.data.delivery.state, settled?.id], ['delivered', second?.data.attempt.id])
  })

  it('sends the start of the previous attempt when an attempt is repeated', async () => {
    // The feed may lag by a second, and must be read before the next attempt.
    const receiver = await receive((response) => response.writeHead(503, { 'retry-after': '5' }).end(), 200)
    const reader = await open('eventType=again')
    await owe(endpoint, { url: receiver.url, type: 'again' })
    const [, attempt] = await read(reader, 2)
    reader.close()
    const { delivery, attempt: made } = attempt?.data ?? {}
    assert.ok(Date.parse(delivery.nextAttemptAt) > Date.parse(made.startedAt))
  })

  it('resumes after the event of Last-Event-ID, with all events since', async () => {
    const receiver = await receive(200)
    const reader = await open('eventType=resumed')
    const [first] = await owe(endpoint, { url: receiver.url, type: 'resumed' })
    const [, , last] = await read(reader, 3)
    reader.close()
    const missed = await owe(endpoint, { url: receiver.url, type: 'resumed' }, 2)
    await receiver.waitFor(3)
    const again = await open('eventType=resumed', { 'last-event-id': last?.id ?? '' })
    const events = await read(again, 6)
    again.close()
    const ids = new Set<string>(events.map(({ data }) => data.delivery.id))
    assert.deepEqual(ids, new Set(missed))
    assert.ok(!ids.has(first ?? ''))
  })

  it('sends a cursor at once, from which a reader can resume', async () => {
    const receiver = await receive(200)
    const reader = await open('eventType=placed')
    const nothing = reader.next()
    const [cursor] = await until(
      async () => reader.cursors,
      ({ length }) => length > 0,
    )
    reader.close()
    await assert.rejects(nothing)
    const [id] = await owe(endpoint, { url: receiver.url, type: 'placed' })
    await receiver.waitFor(1)
    const again = await open('eventType=placed', { 'last-event-id': cursor ?? '' })
    const [first] = await read(again, 1)
    again.close()
    assert.deepEqual([first?.event, first?.data.delivery.id], ['pending', id])
  })

  it('sends `settled` with the reason for a delivery that fails without an attempt', async () => {
    // The first delivery waits for a retry. The second gets a 410, so that the receiver is disabled.
    const receiver = await receive((response) => response.writeHead(503, { 'retry-after': '5' }).end(), 410)
    const since = new Date().toISOString()
    const live = await open('eventType=refused')
    const [tried] = await owe(endpoint, { url: receiver.url, type: 'refused' })
    // An attempt is stored some time after the receiver got it.
    const events = await read(live, 2)
    const [gone] = await owe(endpoint, { url: receiver.url, type: 'refused' })
    events.push(...(await read(live, 4)))
    live.close()
    const told = events.map(({ event, data }) => [event, data.delivery.id])
    const expected = [
      ['pending', tried],
      ['attempt', tried],
      ['pending', gone],
      ['attempt', gone],
      ['settled', gone],
      ['settled', tried],
    ]
    assert.deepEqual(told, expected)
    const last = events.at(-1)
    assert.match(last?.data.delivery.reason, /^receiver_disabled: It answered 410 Gone\./)
    assert.equal(last?.data.delivery.attempts, 1)
    const late = await open(`after=${since}&eventType=refused`)
    assert.deepEqual(
      (await read(late, 6)).map(({ event, data }) => [event, data.delivery.id]),
      expected,
      'whoever reads it later is told the same, each once',
    )
    late.close()
    const [next] = await owe(endpoint, { url: receiver.url, type: 'refused' })
    const again = await open('eventType=refused', { 'last-event-id': last?.id ?? '' })
    const more = await read(again, 2)
    again.close()
    assert.deepEqual(
      more.map(({ event, data }) => [event, data.delivery.id]),
      [
        ['pending', next],
        ['settled', next],
      ],
    )
  })

  it('begins at the time `after`, and applies the filters', async () => {
    const receiver = await receive(200)
    const since = new Date().toISOString()
    await owe(endpoint, { url: receiver.url, type: 'loud' })
    const [quiet] = await owe(endpoint, { url: receiver.url, type: 'quiet' })
    const reader = await open(`after=${since}&eventType=quiet`)
    const events = await read(reader, 3)
    reader.close()
    assert.deepEqual(
      events.map(({ event, data }) => [event, data.delivery.id]),
      [
        ['pending', quiet],
        ['attempt', quiet],
        ['settled', quiet],
      ],
    )
  })

  it('shows an organization its own deliveries only', async () => {
    const org = (await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })).json
    const other = (await annex.api('POST', `/v1/orgs/${org.id}/tokens`, {})).json.token
    const { answered, close } = ask(`after=${new Date(0).toISOString()}`, {}, other)
    const response = await answered
    const events = readServerEvents(response.body ?? assert.fail('no body'))
    const receiver = await receive(200)
    await owe(endpoint, { url: receiver.url })
    await receiver.waitFor(1)
    const nothing = new Promise((resolve) => setTimeout(resolve, 2_500, 'nothing'))
    const next = events.next().catch(() => 'closed')
    assert.equal(await Promise.race([next, nothing]), 'nothing')
    assert.equal(response.bodyUsed, true)
    close()
  })

  it('refuses wrong filters, and requests without a token', async () => {
    const wrong = [
      [ask('', { 'last-event-id': 'yesterday' }), 400],
      [ask('state=lost'), 400],
      [ask('', {}, 'annex_op_none'), 401],
    ] as const
    for (const [{ answered }, status] of wrong) assert.equal((await answered).status, status)
  })

  it('limits the readers of an organization, and frees the slot of one that leaves', async () => {
    const readers: Reader[] = []
    // Readers of earlier tests may not have left yet.
    const retry = () => until(() => open().catch(() => undefined), Boolean)
    while (readers.length < 32) readers.push((await retry()) ?? assert.fail('no reader'))
    const refused = await ask().answered
    assert.equal(refused.status, 503)
    assert.equal(((await refused.json()) as Json).error.code, 'too_many_readers')
    for (const { close } of readers) close()
    for (;;) {
      const { answered, close } = ask()
      const { status } = await answered
      close()
      if (status === 200) break
    }
  })

  it('ends with a reason when Annex stops', async () => {
    const reader = await open()
    const closing = annex.close()
    const [end] = await read(reader, 1)
    assert.deepEqual([end?.event, end?.data.reason], ['end', 'Annex is stopping.'])
    assert.equal(await reader.next(), undefined)
    await closing
  })
})
