/**
 * Stands where a sandbox process would, started in just the same way, and makes the startup snapshot of the web platform for
 * all of them: that takes five times as long as an isolate that is made of it. It is given the prelude, hands the snapshot
 * over, and waits to be killed. It has run nothing but our own code, so the host may believe it.
 */
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import type ivm from 'isolated-vm'
import { createFrameReader, createFrameWriter } from './frame.ts'
import { createPlatform } from './isolate/platform.ts'
import { toHost } from './messages.ts'

const maxPreludeBytes = 16 * 1024 * 1024

const engine: typeof ivm = createRequire(import.meta.url)('isolated-vm')
const host = new Socket({ fd: 3, readable: true, writable: true })
const out = createFrameWriter((bytes) => host.write(bytes))
host.on('close', () => process.kill(process.pid, 'SIGKILL'))
host.on('error', () => process.kill(process.pid, 'SIGKILL'))
host.on(
  'data',
  createFrameReader(maxPreludeBytes, ({ text }) => {
    const { snapshot } = createPlatform(engine, text)
    const body = snapshot === undefined ? undefined : new Uint8Array(snapshot.copy())
    out.write({ type: toHost.ready, number: body === undefined ? 0 : 1, body })
    out.flush()
  }),
)
