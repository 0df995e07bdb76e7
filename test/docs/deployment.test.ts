import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startAnnex, until } from '../support/annex.ts'
import { setUp } from '../support/own-page.ts'

const read = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../docs/deployment/${name}`, import.meta.url)), 'utf8')
const has = (program: string, flag: string) => spawnSync(program, [flag]).status === 0
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

it('systemd accepts the unit', async (context) => {
  if (!has('systemd-analyze', '--version')) return context.skip('needs systemd-analyze')
  const folder = mkdtempSync(join(tmpdir(), 'annex-unit-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const unit = join(folder, 'annex.service')
  // The user and the folder are not there on this machine.
  writeFileSync(unit, read('annex.service').replaceAll('/opt/annex', root).replaceAll('=annex\n', '=root\n'))
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  assert.doesNotMatch(stderr, /annex\.service/)
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

type Seen = { status: number; body: string }

/** Its path as it is: `fetch` would change it. */
function ask(port: number, path: string, body?: string): Promise<Seen> {
  const { promise, resolve, reject } = Promise.withResolvers<Seen>()
  const headers = { host: 'annex.example.com' }
  const method = body === undefined ? 'GET' : 'POST'
  request({ port, path, method, headers }, async (response) => {
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    resolve({ status: response.statusCode ?? 0, body: text })
  })
    .on('error', reject)
    .end(body)
  return promise
}

it('nginx accepts the example, and forwards requests unchanged', async (context) => {
  if (!has('nginx', '-v')) return context.skip('needs nginx')
  await using ends = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'annex-nginx-'))
  ends.defer(() => rmSync(folder, { recursive: true, force: true }))
  const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async (request) => new Response(new URL(request.url).pathname + ' ' + (await request.text()).length) })`
  const annex = await startAnnex({
    plugins: { shows: { script } },
    flags: { PUBLIC_URL: 'https://annex.example.com' },
  })
  ends.defer(annex.close)
  const port = await freePort()
  mkdirSync(join(folder, 'tmp'))
  const example = read('nginx.conf')
  // Without TLS: the certificate is not there. The server that leads to it goes.
  const site = example
    .replace(/server \{\s+listen 80;[\s\S]*?\n\}\n/, '')
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port};`)
    .replace(/ {4}ssl_certificate.*\n/g, '')
    .replace('127.0.0.1:8787', new URL(annex.url).host)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/tmp/${name};`)
    .join(' ')
  const conf = join(folder, 'nginx.conf')
  const main = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}`
  writeFileSync(conf, `${main}\nhttp { access_log off; ${temporary}\n${site}\n}\n`)
  execFileSync('nginx', ['-t', '-c', conf], { stdio: 'pipe' })
  const nginx = spawn('nginx', ['-c', conf], { stdio: 'ignore' })
  const ended = once(nginx, 'exit')
  ends.defer(async () => {
    nginx.kill()
    await ended
  })
  const healthz = () => ask(port, '/healthz').catch(() => undefined)
  await until(healthz, (seen) => seen?.status === 200)
  const large = await ask(port, '/x/shows/a%2Fb', 'x'.repeat(3_000_000))
  assert.deepEqual(large, { status: 200, body: `${large.body.split(' ')[0]} 3000000` })
  assert.match(large.body, /\/a%2Fb /)
  assert.equal((await ask(port, '/x/shows/..%2fother')).status, 404)
  const page = await setUp(
    { url: `http://127.0.0.1:${port}`, server: annex.server },
    { host: 'annex.example.com' },
  )
  assert.deepEqual([...page.cookies.keys()], ['__Host-annex_session'])
  assert.equal((await page.call('GET', '/v1/me')).json.role, 'operator')
  assert.equal((await ask(port, '/metrics')).status, 401, 'not for those who come past a proxy')
})
