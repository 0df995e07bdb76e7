import { fileURLToPath } from 'node:url'
import { type MeasuredServer, startChild } from './measured-server.ts'

const binary = fileURLToPath(new URL('../../../node_modules/workerd/bin/workerd', import.meta.url))
const config = fileURLToPath(new URL('workerd-echo.capnp', import.meta.url))

/** @throws Error where workerd does not run: it has binaries for few systems, and wants a recent C library */
export async function startWorkerd(): Promise<MeasuredServer> {
  const { line, pid, close } = await startChild(binary, ['serve', config, '--control-fd=3'], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    lineFrom: 3,
  })
  const { port } = JSON.parse(line)
  return { name: 'workerd', urls: [`http://127.0.0.1:${port}/`], pid, close }
}
