// The handler of plugins/echo, as workerd takes it.
export default {
  async fetch(request) {
    if (request.method !== 'POST') return new Response('Method not allowed', { status: 405 })
    return Response.json({ received: true })
  },
}
