import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import type ivm from 'isolated-vm'
import { buildPrelude } from '../../host/bundle/build-runtime.ts'
import { platformFile } from '../../runtime/platform-frames.ts'
import { createPlatform, createPlatformContext } from '../../runtime/process/isolate/platform.ts'

const engine: typeof ivm = createRequire(import.meta.url)('isolated-vm')

it('the warm-up of the snapshot runs, and changes no global', async (t) => {
  const cacheFolder = mkdtempSync(join(tmpdir(), 'annex-prelude-'))
  t.after(() => rmSync(cacheFolder, { recursive: true }))
  const { code } = await buildPrelude({ cacheFolder })
  const platform = createPlatform(engine, code)
  // One that throws would cost the snapshot.
  assert.notEqual(platform.snapshot, undefined)
  const { isolate, context } = createPlatformContext(engine, platform, { memoryLimit: 64 })
  t.after(() => isolate.dispose())
  const plain = { code, snapshot: engine.Isolate.createSnapshot([{ code, filename: platformFile }]) }
  const cold = createPlatformContext(engine, plain, { memoryLimit: 64 })
  t.after(() => cold.isolate.dispose())
  const globals = 'JSON.stringify(Reflect.ownKeys(globalThis).map(String))'
  assert.equal(context.evalSync(globals), cold.context.evalSync(globals))
  assert.equal(context.evalSync('typeof __annexBoot'), 'function', 'not booted yet')
})
