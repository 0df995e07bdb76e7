/**
 * A process that makes the startup snapshot of the web platform for all sandbox processes. The host starts it as it starts a
 * sandbox process, sends the prelude, gets the snapshot, and kills it. It runs Annex's own code alone, so the host trusts it.
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
