import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGuest, createPlatform } from './guest.ts'

const platform = await createPlatform()

const script = `module.exports = { [Symbol.for('annex.dispatch')]: (event, environment, request, host) => {
  const { port1, port2 } = new MessageChannel()
  host.waitUntil(new Promise((resolve) => {
    port2.onmessage = () => { console.log('message of ' + event.name); resolve() }
  }))
  port1.postMessage(0)
} }`

test('a message runs for the dispatch that sent it, also with two at once', async () => {
  const guest = createGuest({ platform, mode: 'snapshot', script })
  try {
    guest.dispatch({ event: { type: 'test', name: 'first' } })
    guest.dispatch({ event: { type: 'test', name: 'second' } })
    await Promise.all([guest.done(1), guest.done(2)])
    assert.deepEqual(
      guest.logs.map(({ dispatch, text }) => [dispatch, text]),
      [
        [1, 'message of first'],
        [2, 'message of second'],
      ],
    )
  } finally {
    guest.close()
  }
})

test('a hostile thrown value does not stop later listeners', async () => {
  const body = `module.exports = { [Symbol.for('annex.dispatch')]: async () => {
    const target = new EventTarget()
    const hostile = new Proxy({}, { getPrototypeOf() { throw new Error('trap') }, get() { throw new Error('trap') } })
    let heard = 0
    target.addEventListener('x', () => { throw hostile })
    target.addEventListener('x', () => { heard += 1 })
    const event = new Event('x')
    target.dispatchEvent(event)
    target.dispatchEvent(event)
    return { value: heard }
  } }`
  const guest = createGuest({ platform, mode: 'snapshot', script: body })
  try {
    const { result } = await guest.dispatch({})
    assert.deepEqual(result, { kind: 'value', value: 2 })
    assert.equal(guest.logs.length, 2)
  } finally {
    guest.close()
  }
})
