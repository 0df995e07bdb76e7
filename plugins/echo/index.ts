import { createIntegration } from '@annex/runtime'

/** The reference behaviour of a public endpoint: a receiver of webhooks and callbacks. */
export default createIntegration({
  fetch: async (request) => {
    if (request.method !== 'POST') return new Response('Method not allowed', { status: 405 })
    return Response.json({ received: true })
  },
})
