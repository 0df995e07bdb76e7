import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const nginx = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx', '/opt/homebrew/bin/nginx'].find(
  (path) => existsSync(path),
)

/** Why a test with nginx is left out, or false. With ANNEX_CI=1 a missing nginx is an error. */
export function skipWithoutNginx(): string | false {
  if (nginx !== undefined) return false
  const text = 'nginx is not installed (Debian: apt-get install nginx-light)'
  if (process.env.ANNEX_CI === '1') throw new Error(`${text}, and ANNEX_CI=1 asks for it.`)
  return text
}

/**
 * Starts nginx on a free port of 127.0.0.1, in the foreground and with one process. It ends with the returned function.
 *
 * @param locations the directives of its one `server`
 */
export async function startNginx(locations: string): Promise<{ url: string; close: () => Promise<void> }> {
  const port = await freePort()
  const close = await startNginxAt(port, `server { listen 127.0.0.1:${port}; ${locations} }`)
  return { url: `http://127.0.0.1:${port}`, close }
}

/**
 * @param port it listens there
 * @param servers the directives of `http`
 * @returns ends it
 */
export async function startNginxAt(port: number, servers: string): Promise<() => Promise<void>> {
  if (nginx === undefined) throw new Error('nginx is not installed.')
  const folder = mkdtempSync(join(tmpdir(), 'annex-nginx-'))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (n) => `${n}_temp_path ${folder}/${n};`,
  )
  const config = `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
    events {}
    http { access_log off; ${temporary.join(' ')} ${servers} }`
  writeFileSync(join(folder, 'nginx.conf'), config)
  const args = ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')]
  const child = spawn(nginx, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    rmSync(folder, { recursive: true, force: true })
  }
  await listening(child, port).catch(async (error) => {
    await close()
    throw error
  })
  return close
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk
  })
  const end = Date.now() + 30_000
  for (;;) {
    if (child.exitCode !== null || Date.now() > end) throw new Error(`nginx does not start: ${said}`)
    if (await takesConnections(port)) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

async function takesConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
