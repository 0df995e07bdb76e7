import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { buildPrelude, loadProcessCode, type ProcessCode } from '../../host/bundle/build-runtime.ts'
import { cacheSnapshot, makeSnapshot } from '../../host/sandbox/process/snapshot.ts'
import { startProcess } from '../../host/sandbox/process/start-process.ts'
import { createFrameReader, createFrameWriter, type Frame } from '../../runtime/process/frame.ts'
import { toHost, toProcess } from '../../runtime/process/messages.ts'
import { buildsFolder } from '../support/kept-builds.ts'

const enclosure: string[] = []
const options = {
  file: 'x.js',
  cpuMs: 1_000,
  loadMs: 1_000,
  wallMs: 30_000,
  pieceBytes: 1e6,
  timers: 10,
  allowEval: false,
}
const bundle = `__annexDefine((module) => {
  module.exports = { [Symbol.for('annex.dispatch')]: async () => ({ value: new URL('/b', 'https://a.test').href }) }
})`

describe('the snapshot of the web platform', () => {
  let code: ProcessCode
  let prelude: string

  before(async () => {
    ;[code, { code: prelude }] = await Promise.all([
      loadProcessCode({ cacheFolder: buildsFolder }),
      buildPrelude({ cacheFolder: buildsFolder }),
    ])
  })

  it('is made by its own process, and serves another process without the prelude', async () => {
    const snapshot = await makeSnapshot({ enclosure, code: code.snapshotMaker }, prelude)
    assert.ok(snapshot !== undefined)
    const started = startProcess((text) => console.error(text), { enclosure, code: code.main })
    try {
      const out = createFrameWriter((bytes) => started.stream.write(bytes))
      const goOn = () => {
        out.write({ type: toProcess.goOn })
        out.flush()
      }
      const answered = new Promise<Frame>((resolve, reject) => {
        const read = createFrameReader(1e8, (frame) => {
          // On a busy machine to load may take long: the process waits for a word before it begins the dispatch.
          if (frame.type === toHost.stuck) goOn()
          if (frame.type === toHost.answer || frame.type === toHost.loadFailed) resolve(frame)
          if (frame.type === toHost.broken) reject(new Error(frame.text))
        })
        started.stream.on('data', read)
        started.exited.then((end) => reject(new Error(`the process ended: ${JSON.stringify(end)}`)))
      })
      out.write({ type: toProcess.platform, number: 64, body: snapshot })
      out.write({ type: toProcess.load, sandbox: 1, text: JSON.stringify(options), body: bundle })
      out.write({ type: toProcess.environment, sandbox: 1, text: '{}' })
      const text = JSON.stringify({ event: { type: 'x' } })
      out.write({ type: toProcess.dispatch, sandbox: 1, dispatch: 1, text })
      out.flush()
      assert.match((await answered).text, /https:\/\/a\.test\/b/)
    } finally {
      started.kill()
      await started.exited
      started.close()
    }
  })

  it('is undefined if V8 fails or no process starts', async () => {
    const start = { enclosure, code: code.snapshotMaker }
    assert.equal(await makeSnapshot(start, 'throw new Error("no prelude")'), undefined)
    assert.equal(await makeSnapshot({ enclosure: ['/bin/false'] }, prelude), undefined)
  })

  it('is cached for the next start, and a damaged file is replaced', async (t) => {
    const cacheFolder = mkdtempSync(join(tmpdir(), 'annex-snapshot-'))
    t.after(() => rmSync(cacheFolder, { recursive: true }))
    let made = 0
    const make = async () => Buffer.from(`snapshot ${++made}`)
    const keep = (digest: string) => cacheSnapshot({ cacheFolder, digest, make })
    assert.equal(String(await keep('a')), 'snapshot 1')
    assert.equal(String(await keep('a')), 'snapshot 1')
    assert.equal(String(await keep('b')), 'snapshot 2', 'of other sources')
    for (const name of readdirSync(cacheFolder)) {
      const file = join(cacheFolder, name)
      const bytes = readFileSync(file)
      writeFileSync(file, bytes.subarray(0, bytes.length - 1))
    }
    assert.equal(String(await keep('a')), 'snapshot 3')
    assert.equal(String(await keep('a')), 'snapshot 3')
  })

  it('is not cached after a failure', async (t) => {
    const cacheFolder = mkdtempSync(join(tmpdir(), 'annex-snapshot-'))
    t.after(() => rmSync(cacheFolder, { recursive: true }))
    assert.equal(await cacheSnapshot({ cacheFolder, digest: 'a', make: async () => undefined }), undefined)
    assert.deepEqual(readdirSync(cacheFolder), [])
  })
})
