import { type Annex, type Json, until } from './annex.ts'
import type { PluginSource } from './plugin-folder.ts'
import { startReceiver } from './receiver.ts'

/** A plugin that queues a delivery for each request to its endpoint: `?url=&type=&id=`. */
export const senderPlugin: PluginSource = {
  script: `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { integration }) => {
    const { searchParams } = new URL(request.url)
    const given = (name) => searchParams.get(name) ?? undefined
    const event = { type: given('type') ?? 'told', eventId: given('id'), note: 'from a script' }
    return Response.json(await integration.queueDelivery({ url: given('url'), event }))
  },
})`,
}

/** Queues deliveries by requests to the plugin's endpoint. @returns their ids, in order */
export async function owe(
  receiver: string,
  given: { url: string; type?: string; id?: string },
  times = 1,
): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < times; n += 1) {
    const response = await fetch(`${receiver}?${new URLSearchParams(given)}`)
    const { id } = (await response.json()) as { id: string }
    ids.push(id)
  }
  return ids
}

/** What tests of deliveries do again and again: receivers that end with `ends`, and readings of a delivery. */
export function watchDeliveries(ends: AsyncDisposableStack, api: () => Annex['api']) {
  const delivery = async (id: string): Promise<Json> => (await api()('GET', `/v1/deliveries/${id}`)).json
  return {
    async receive(...answers: Parameters<typeof startReceiver>) {
      const receiver = await startReceiver(...answers)
      ends.defer(receiver.close)
      return receiver
    },
    delivery,
    settled: (id: string): Promise<Json> =>
      until(
        () => delivery(id),
        ({ state }) => state !== 'pending',
      ),
  }
}
