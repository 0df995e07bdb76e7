import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { installSample, startAnnex, until } from '../support/annex.ts'
import { shareBuilds } from '../support/kept-builds.ts'
import { owe, senderPlugin, watchDeliveries } from '../support/sender.ts'
import { bin, cleanEnvironment, makeFolder } from './support/run-annex.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A proxy in front of Annex that answers during a restart. */
async function startProxy(context: TestContext) {
  let answer: Answer = (_request, response) => response.destroy()
  const feeds = { opened: 0, turnedAway: 0 }
  const server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as { port: number }
  return {
    feeds,
    url: `http://127.0.0.1:${port}`,
    passTo(url: string) {
      answer = ({ method, headers, url: path = '' }, response) => {
        const passed = forward(url + path, { ...(method && { method }), headers }, (answered) => {
          feeds.opened += 1
          response.writeHead(answered.statusCode ?? 502, answered.headers)
          response.flushHeaders()
          answered.pipe(response).on('error', () => {})
        })
        passed.on('error', () => response.destroy()).end()
      }
    },
    turnAway(how: Answer) {
      answer = (request, response) => {
        feeds.turnedAway += 1
        how(request, response)
      }
    },
  }
}

function startFollowing(context: TestContext, url: string, token: string) {
  const child = spawn(process.execPath, [bin, 'deliveries', '--follow', '--json', '--url', url], {
    cwd: tmpdir(),
    env: { ...cleanEnvironment, ANNEX_TOKEN: token },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  context.after(() => child.kill('SIGKILL'))
  const said = { out: '', err: '' }
  child.stdout.on('data', (bytes) => {
    said.out += bytes
  })
  child.stderr.on('data', (bytes) => {
    said.err += bytes
  })
  return { said, child }
}

for (const [what, how] of [
  ['takes no connections', (_request, response) => response.destroy()],
  [
    'has a proxy that answers 502',
    (_request, response) => response.writeHead(502).end('<h1>Bad Gateway</h1>'),
  ],
] as const satisfies readonly (readonly [string, Answer])[]) {
  test(`deliveries --follow continues after a restart during which the server ${what}`, async (context) => {
    const folder = await makeFolder(context)
    const dataDir = join(folder, 'data')
    shareBuilds(dataDir)
    const given = { dataDir, pluginsDir: join(folder, 'plugins'), plugins: { sender: senderPlugin } }
    const ends = new AsyncDisposableStack()
    context.after(() => ends.disposeAsync())
    const proxy = await startProxy(context)
    const first = await startAnnex(given)
    const { pathname } = new URL((await installSample(first, 'sender')).endpoint)
    proxy.passTo(first.url)
    const token = readFileSync(join(dataDir, 'cli.token'), 'utf8').trim()
    const { said, child } = startFollowing(context, proxy.url, token)
    await until(
      async () => proxy.feeds.opened,
      (opened) => opened > 0,
    )
    proxy.turnAway(how)
    await first.close()

    const second = await startAnnex(given)
    ends.defer(second.close)
    const { receive, settled } = watchDeliveries(ends, () => second.api)
    const receiver = await receive(200)
    const [id = ''] = await owe(second.url + pathname, { url: receiver.url })
    await settled(id)
    await until(
      async () => proxy.feeds.turnedAway,
      (times) => times > 1 || child.exitCode !== null,
    )
    assert.equal(child.exitCode, null, said.err)
    proxy.passTo(second.url)
    await until(
      async () => said.out,
      (out) => out.includes('"settled"') || child.exitCode !== null,
    )
    assert.equal(child.exitCode, null, said.err)
    const kinds = said.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ kind, delivery }) => [kind, delivery.id])
    assert.deepEqual(kinds, [
      ['pending', id],
      ['attempt', id],
      ['settled', id],
    ])
    assert.match(said.err, /Trying again\.\n/)
  })
}
