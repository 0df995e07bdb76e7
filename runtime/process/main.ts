/**
 * The sandbox process. The host starts it with an empty environment and no permission to anything but its own
 * code, exchanges frames with it over the socketpair on fd 3, and reads its black box on fd 4.
 */
import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import { createBlackBox } from './black-box.ts'
import { createSandboxServer } from './sandbox-server.ts'

const kill = (): boolean => process.kill(process.pid, 'SIGKILL')

const stream = new Socket({ fd: 3, readable: true, writable: true })
createSandboxServer({
  engine: createRequire(import.meta.url)('isolated-vm'),
  stream,
  blackBox: createBlackBox((record, at, bytes) => writeSync(4, record, at, bytes, at)),
  // Even process.exit() would hang. The black box already names the sandbox.
  onCatastrophe: kill,
})
// The host has gone: there is no work without it.
stream.on('close', kill)
stream.on('error', kill)
// systemd sends SIGTERM to all processes of a service. The host ends this process when its scripts are done.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
