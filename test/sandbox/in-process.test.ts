import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import type ivm from 'isolated-vm'
import { buildPrelude } from '../../host/bundle/build-runtime.ts'
import type { StartProcess } from '../../host/sandbox/process/start-process.ts'
import { createSandboxes, type Sandboxes } from '../../host/sandbox/sandboxes.ts'
import { createBlackBox } from '../../runtime/process/black-box.ts'
import { createFrameReader, createFrameWriter } from '../../runtime/process/frame.ts'
import { type LoadOptions, toHost, toProcess } from '../../runtime/process/messages.ts'
import { createSandboxServer } from '../../runtime/process/sandbox-server.ts'
import { buildsFolder } from '../support/kept-builds.ts'
import { createStartInProcess, createStreamPair } from '../support/sandboxes-in-process.ts'

const limits = {
  ...{
    heapMb: 64,
    residentMb: 512,
    cpuMs: 100,
    loadMs: 200,
    wallMs: 60_000,
    waitUntilMs: 60_000,
    timers: 10,
  },
  ...{ logLines: 10, logBytes: 1000, bodyBytes: 1e6, fetchBytes: 1e6, fetches: 10, pending: 10 },
  ...{ calls: 10, callsAtOnce: 10 },
}
const level = { kind: 'integration', integration: 'x' } as const
const context = { requestId: 'req_1', integration: 'x', scopes: [], level, hops: 0 }

/** Runs one dispatch of a script. @returns its value, or the code of its error */
async function dispatch(body: string, start: StartProcess, top = ''): Promise<unknown> {
  const sandboxes: Sandboxes = createSandboxes({
    platform: { text: (await buildPrelude({ cacheFolder: buildsFolder })).code },
    limits,
    ...{ processes: 1, processesMax: 8, keepsSpare: false, start },
    hostCalls: { run: async () => assert.fail('the script calls nothing'), isEgress: () => false },
    ...{ onLog() {}, onReceipt() {}, onLimit() {}, onProcessEnd() {}, onSuspend() {} },
  })
  const code = `__annexDefine((module) => { ${top}
    module.exports = { [Symbol.for('annex.dispatch')]: async () => ({ value: await (async () => { ${body} })() }) }
  })`
  const target = { key: 'x', group: 'operator', integration: 'x', version: { digest: 'd', code } } as const
  try {
    const { result } = await sandboxes.dispatch({ target, environment: '{}', message: '{}', context })
    return result.kind === 'value' ? result.value : result.kind
  } catch (error) {
    return (error as { code: string }).code
  } finally {
    await sandboxes.close()
  }
}

/** This file is also the program of a process that runs one script, and must end without a kill. */
const [given] = process.env.SCRIPT_IN_PROCESS === undefined ? [] : [process.env.SCRIPT_IN_PROCESS]
if (given !== undefined) console.log(await dispatch(given, createStartInProcess()))
else describe('a sandbox inside the test process', suite)

async function runApart(script: string, flags = ['--no-node-snapshot']) {
  const child = spawn(process.execPath, [...flags, import.meta.filename], {
    env: { ...process.env, TEST_BUILDS_FOLDER: buildsFolder, SCRIPT_IN_PROCESS: script },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)))
  const [output, errors, end] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { said: output + errors, end }
}

const advice = /A script broke its sandbox in the process of its test: [\s\S]*sandboxes: 'processes'/

function suite(): void {
  for (const [what, body, top] of [
    ['loops', 'for (;;) {}', ''],
    ['loops after a wait', 'await null; for (;;) {}', ''],
    ['loops in a timer', 'await new Promise(() => setTimeout(() => { for (;;) {} }, 1))', ''],
    ['loops while it is loaded', '', 'for (;;) {}'],
    ['sorts without end', 'for (;;) Array.from({ length: 1e5 }, Math.random).sort()', ''],
  ] as const) {
    it(`reports a script that ${what}, with the option for such scripts`, async () => {
      const errors: Error[] = []
      const outcome = await dispatch(
        body,
        createStartInProcess((error) => errors.push(error)),
        top,
      )
      assert.match(errors[0]?.message ?? `the dispatch ended with ${outcome}`, advice)
    })
  }

  it('fails a test whose script fills its heap, with that option', async () => {
    const { said, end } = await runApart('const all = []; for (;;) all.push(String(all.length).repeat(1000))')
    assert.notEqual(end, 0, said)
    assert.match(said, advice)
  })

  it('leaves no timer and no handle after the close, so the program ends', async () => {
    const { said, end } = await runApart('setInterval(() => {}, 10); setTimeout(() => {}, 2 ** 30); return 7')
    assert.deepEqual([said, end], ['7\n', 0])
  })

  it('needs node --no-node-snapshot, and its error names the flag', async () => {
    const { said, end } = await runApart('return 7', [])
    assert.match(said, /need node --no-node-snapshot/)
    assert.equal(end, 1, said)
  })

  it('leaves no isolate after the close of its server', async () => {
    const isolates: ivm.Isolate[] = []
    const native: typeof ivm = createRequire(import.meta.url)('isolated-vm')
    const Isolate = class extends native.Isolate {
      constructor(options?: ivm.IsolateOptions) {
        super(options)
        isolates.push(this)
      }
    }
    const [hostEnd, sandboxEnd] = createStreamPair()
    const server = createSandboxServer({
      engine: Object.create(native, { Isolate: { value: Isolate } }),
      stream: sandboxEnd,
      blackBox: createBlackBox(() => {}),
      onCatastrophe: () => assert.fail('V8 could not go on'),
    })
    let loaded = 0
    const { promise: isAnswered, resolve } = Promise.withResolvers<void>()
    const read = createFrameReader(1e8, ({ type }) => {
      if (type === toHost.loaded) loaded += 1
      if (type === toHost.pong) resolve()
    })
    hostEnd.on('data', read)
    const out = createFrameWriter((bytes) => hostEnd.write(bytes))
    const { code } = await buildPrelude({ cacheFolder: buildsFolder })
    out.write({ type: toProcess.platform, number: 64, text: code })
    const options: LoadOptions = {
      ...{ file: 'x', cpuMs: 5_000, loadMs: 5_000, wallMs: 30_000, pieceBytes: 1e6, timers: 10 },
      allowEval: false,
    }
    const body =
      "__annexDefine((module) => { module.exports = { [Symbol.for('annex.dispatch')]: async () => ({}) } })"
    for (const sandbox of [1, 2])
      out.write({ type: toProcess.load, sandbox, text: JSON.stringify(options), body })
    out.write({ type: toProcess.ping })
    out.flush()
    await isAnswered
    assert.equal(loaded, 2)
    // The one that is kept ready is made in a later turn.
    const areOpen = () => isolates.filter(({ isDisposed }) => !isDisposed).length
    while (areOpen() < 3) await new Promise((resolve) => setTimeout(resolve, 5))
    server.close()
    assert.equal(areOpen(), 0)
    // As the host does with a process that it has ended already.
    server.close()
  })
}
