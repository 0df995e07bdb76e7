import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import ivm from 'isolated-vm'
import { createGuest, type Guest, type Platform, type Serve } from '../runtime/guest.ts'
import { echoOf } from './echo-handlers.ts'
import { addressOf, idlSurroundings, reporting, surroundings } from './in-isolate.ts'
import type { Case } from './list-cases.ts'
import { contentTypeOf, readServed, wptHost } from './wpt-folder.ts'

export type Subtest = { name: string; passed: boolean; message: string }

/** Status codes of the harness, for a subtest. */
const statusNames = ['passed', 'failed', 'timed out', 'not run', 'precondition failed']
const preconditionFailed = 4

/**
 * Runs one case in a fresh isolate, made from the prelude as sandboxes are. What the file throws, and a harness that
 * never completes, count as one more failed subtest: a test that did not run must not count as passed.
 */
export const runCase = async (platform: Platform, wptFolder: string, given: Case): Promise<Subtest[]> => {
  const subtests: Subtest[] = []
  const { promise: completed, resolve: complete } = Promise.withResolvers<void>()
  const fail = (name: string, message: string) => subtests.push({ name, passed: false, message })
  const script = 'module.exports = { [Symbol.for("annex.dispatch")]: async () => undefined }'
  const guest = createGuest({ platform, mode: 'snapshot', script, serve: serveFolder(wptFolder) })
  const report = new ivm.Callback((text: string) => {
    const result = JSON.parse(text) as {
      name: string
      status: number
      message: string | null
      harness?: number
    }
    if (result.harness !== undefined) {
      if (result.harness !== 0) fail('(harness)', result.message ?? `status ${result.harness}`)
      return complete()
    }
    // The test itself says that it asks for something optional that is not there.
    if (result.status === preconditionFailed) return
    const message = result.message ?? ''
    const named = statusNames[result.status] ?? `status ${result.status}`
    subtests.push({
      name: result.name,
      passed: result.status === 0,
      message: result.status > 1 ? `${named} ${message}` : message,
    })
  })
  try {
    guest.context.global.setSync('__report', report)
    const run = (code: string, filename: string) =>
      guest.context.evalSync(code, { filename, timeout: given.timeoutMs })
    run(surroundings(given), 'surroundings')
    run(await readScript(wptFolder, '/resources/testharness.js'), 'testharness.js')
    run(reporting, 'reporting')
    if (given.scripts.some((name) => name.endsWith('/idlharness.js'))) {
      const evaluate = new ivm.Callback((text: string) => void guest.context.evalSync(text))
      guest.context.global.setSync('evaluate', evaluate)
      run(idlSurroundings, 'idl surroundings')
    }
    try {
      for (const name of given.scripts) run(await readScript(wptFolder, name, given.file), name)
      run(await readScript(wptFolder, `/${given.file}`), addressOf(given))
    } catch (error) {
      fail('(file)', (error as Error).message)
    }
    run('done()', 'done')
    await Promise.race([completed, wait(given.timeoutMs)])
    endTests(guest)
    await Promise.race([completed, wait(100).then(() => fail('(harness)', 'never completed'))])
  } catch (error) {
    fail('(isolate)', (error as Error).message)
  } finally {
    guest.close()
  }
  return subtests
}

/** Tests that still wait are reported as timed out. */
const endTests = (guest: Guest): void => {
  guest.context.evalSync('timeout()', { timeout: 1000 })
}

const readScript = async (wptFolder: string, name: string, from = '/'): Promise<string> => {
  const pathname = name.startsWith('/') ? name : path.posix.join('/', path.posix.dirname(from), name)
  const bytes = await readServed(wptFolder, pathname)
  if (bytes === undefined) throw new Error(`The checkout has no ${pathname}`)
  return bytes.toString('utf8')
}

/** `fetch` of a test: files of the folder, and nothing else; no request leaves this machine. */
const serveFolder = (wptFolder: string): Serve => ({
  fetch: async (asked: { url: string; method: string; headers: [string, string][] }, sent) => {
    const { url, method } = asked
    const { hostname, pathname } = new URL(url)
    if (hostname !== wptHost) throw new Error(`${hostname} is not the server of the tests`)
    const echo = echoOf(asked, sent)
    if (echo !== undefined) {
      const value = { status: 200, statusText: 'OK', headers: echo.headers, url, redirected: false }
      return { value, bytes: echo.body.slice().buffer as ArrayBuffer }
    }
    const found = await readServed(wptFolder, pathname)
    const headers: [string, string][] = [['content-type', contentTypeOf(pathname)]]
    const head = {
      status: found === undefined ? 404 : 200,
      statusText: found === undefined ? 'Not Found' : 'OK',
    }
    const body = method === 'HEAD' || found === undefined ? Buffer.alloc(0) : found
    const bytes = body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength) as ArrayBuffer
    return { value: { ...head, headers, url, redirected: false }, bytes }
  },
})
