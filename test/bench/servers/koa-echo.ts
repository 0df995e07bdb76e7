// Bare Koa with the handler of plugins/echo: what the same host does without a sandbox.
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { readBody } from '../../../host/http/body.ts'

const app = new Koa()
app.use(async (context) => {
  await readBody(context.req, 1024 * 1024)
  if (context.method === 'POST') context.body = { received: true }
  else {
    context.status = 405
    context.body = 'Method not allowed'
  }
})
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`http://127.0.0.1:${port}/\n`)
})
