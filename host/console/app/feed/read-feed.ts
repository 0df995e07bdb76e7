import { createParser } from 'eventsource-parser'
import type { Delivery } from '../../../../schemas/generated/api/deliveries.ts'
import { api } from '../api.ts'

/** Without ids anything may have changed. */
export type Change = { delivery?: string; receiver?: string }

/** Changes of so long are told at once. */
const gatherMs = 250

/**
 * Reads the feed of an organization until it ends, or until the signal.
 *
 * @param tell gets the changes, gathered: a busy organization has thousands a second
 * @throws ApiError `too_many_readers` and others, NoAnswerError
 */
export async function readFeed(
  organization: string,
  tell: (changes: readonly Change[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await api.open('GET /v1/deliveries/feed', {
    query: { organization },
    headers: { accept: 'text/event-stream' },
    signal,
  })
  // What came between the last reading of a page and the feed.
  tell([{}])
  const gathered = new Map<string, Change>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    timer = undefined
    tell([...gathered.values()])
    gathered.clear()
  }
  const parser = createParser({
    onEvent({ event, data }) {
      if (event === 'end') return
      const { delivery }: { delivery: Delivery } = JSON.parse(data)
      gathered.set(delivery.id, { delivery: delivery.id, receiver: delivery.receiver })
      timer ??= setTimeout(flush, gatherMs)
    },
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (;;) {
      const part = await reader?.read()
      if (part === undefined || part.done) return
      parser.feed(part.value)
    }
  } finally {
    clearTimeout(timer)
    if (gathered.size > 0) flush()
  }
}
