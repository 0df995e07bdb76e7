// A gigabyte up and a gigabyte down through a sandbox: how fast, and what the host holds of it meanwhile.
import { once } from 'node:events'
import { request } from 'node:http'
import { createTerminal, printTable } from '../../host/cli/terminal.ts'
import { messageOf } from '../../host/errors.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { ask } from './measure/ask.ts'
import { sumUsed } from './measure/cpu-time.ts'
import { readOptions } from './measure/read-options.ts'
import { describeMachine, type Goal, printGoals } from './report.ts'
import { createFolders, startAnnex } from './servers/start-annex.ts'

const values = readOptions({ megabytes: { type: 'string', default: '1024' } })
const megabytes = Number(values.megabytes)
const megabyte = 1024 * 1024

const script = `
import { createIntegration } from '@annex/runtime'
const chunkBytes = 64 * 1024
export default createIntegration({
  fetch: async (request) => {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname.endsWith('/through')) return new Response(request.body)
    if (pathname.endsWith('/up')) {
      let bytes = 0
      for await (const chunk of request.body) bytes += chunk.byteLength
      return Response.json(bytes)
    }
    if (!pathname.endsWith('/down')) return new Response('ready')
    let left = Number(searchParams.get('bytes'))
    return new Response(new ReadableStream({
      pull(controller) {
        if (left <= 0) return controller.close()
        left -= chunkBytes
        controller.enqueue(new Uint8Array(chunkBytes))
      },
    }))
  },
})`

const terminal = createTerminal(process)
await using ends = new AsyncDisposableStack()
const folders = createFolders()
ends.defer(() => folders.remove())
writePlugin(folders.pluginsDir, 'streams', { script })
const annex = await startAnnex(folders, { SANDBOX_STREAM_BYTES: String(4 * megabytes * 1024 ** 2) })
ends.defer(annex.close)
const url = `${annex.origin}/x/streams`
for (let i = 0; i < 50; i++) await ask(url)

terminal.say(describeMachine().text)
const bytes = megabytes * megabyte
const ways = [
  { name: 'up', path: '/up', sends: bytes, expects: String(bytes).length },
  { name: 'down', path: `/down?bytes=${bytes}`, sends: 0, expects: bytes },
  { name: 'up and down at once', path: '/through', sends: bytes, expects: bytes },
]
const rows: string[][] = []
const goals: Goal[] = []
for (const { name, path, sends, expects } of ways) {
  const memory = watchMemory()
  const startedAt = performance.now()
  const outcome = await transfer(url + path, sends, expects).catch(messageOf)
  const seconds = (performance.now() - startedAt) / 1000
  const { hostMb, sandboxesMb } = memory.stop()
  const rate = outcome === 'ok' ? `${Math.round(megabytes / seconds)} MB/s` : outcome
  rows.push([name, rate, `${Math.round(hostMb)} MB`, `${Math.round(sandboxesMb)} MB`])
  goals.push({
    name: `host's memory grows, ${name}`,
    value: outcome === 'ok' ? hostMb : Number.NaN,
    unit: 'MB',
    atMost: 64,
  })
}
printTable(terminal, [`${megabytes} MB`, 'speed', 'host grows by', 'sandbox processes grow by'], rows)
printGoals(terminal, goals)

/** Sends so many bytes, as fast as they are taken, and reads as many as come. */
async function transfer(to: string, sends: number, expects: number): Promise<'ok'> {
  const sent = request(to, { method: 'POST' })
  const answered = once(sent, 'response')
  const chunk = Buffer.alloc(64 * 1024)
  const send = async () => {
    for (let left = sends; left > 0; left -= chunk.length) if (!sent.write(chunk)) await once(sent, 'drain')
    sent.end()
  }
  const read = async () => {
    const [response] = await answered
    let received = 0
    let first = ''
    for await (const part of response) {
      if (received === 0) first = part.subarray(0, 200).toString()
      received += part.length
    }
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${first}`)
    if (received !== expects) throw new Error(`${received} bytes came of ${expects}`)
  }
  const reading = read()
  // An answer that is an error comes before all is sent: what is not taken then is no news.
  await Promise.race([Promise.all([send(), reading]), reading])
  sent.destroy()
  return 'ok'
}

function watchMemory() {
  const read = () => ({
    host: sumUsed([annex.pid]).residentBytes / megabyte,
    sandboxes: sumUsed(annex.behind?.() ?? []).residentBytes / megabyte,
  })
  const before = read()
  const peak = { ...before }
  const timer = setInterval(() => {
    const now = read()
    peak.host = Math.max(peak.host, now.host)
    peak.sandboxes = Math.max(peak.sandboxes, now.sandboxes)
  }, 20)
  return {
    stop() {
      clearInterval(timer)
      return { hostMb: peak.host - before.host, sandboxesMb: peak.sandboxes - before.sandboxes }
    },
  }
}
