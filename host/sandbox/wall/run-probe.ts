import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import type { ProbeReport } from '../../../runtime/process/probe.ts'
import { startProcess } from '../process/start-process.ts'

export type ProbeResult = {
  report: ProbeReport
  /** As the host saw the process from outside. */
  residentBytes: number
  hasOwnNetwork: boolean
  diedOf: NodeJS.Signals | undefined
  tookMs: number
}

/** `how` the process ended. */
export type ProbeFailure = { errorOutput: string; how: string; hung: boolean }

/** On a busy machine a start takes seconds. A native module for another C library hangs for ever. */
const defaultPatienceMs = 30_000
const longestReport = 64 * 1024

/** Starts a sandbox process that tries to break out, and watches it from outside. */
export async function runProbe(
  options: { enclosure: readonly string[]; code: string },
  patienceMs = defaultPatienceMs,
): Promise<ProbeResult | ProbeFailure> {
  const startedAtMs = performance.now()
  const listening = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const { port } = listening.address() as AddressInfo
  let errorOutput = ''
  const started = startProcess((text) => {
    if (errorOutput.length < longestReport) errorOutput += text
  }, options)
  try {
    started.stream.on('error', () => {})
    started.stream.write(String(port))
    const line = await readLine(started, patienceMs)
    if ('how' in line) return { errorOutput, ...line }
    const seen = { residentBytes: started.residentBytes(), hasOwnNetwork: hasOwnNetwork(started.pid) }
    const tookMs = performance.now() - startedAtMs
    started.kill()
    return { report: JSON.parse(line.text), ...seen, diedOf: await started.exited, tookMs }
  } finally {
    started.kill()
    await started.exited
    started.close()
    listening.close()
  }
}

type Ending = Pick<ProbeFailure, 'how' | 'hung'>

function readLine(
  { stream, exited }: ReturnType<typeof startProcess>,
  patienceMs: number,
): Promise<{ text: string } | Ending> {
  return new Promise((resolve) => {
    let text = ''
    const timer = setTimeout(
      () => resolve({ how: `it said nothing for ${patienceMs} ms`, hung: true }),
      patienceMs,
    )
    const end = (result: { text: string } | Ending) => {
      clearTimeout(timer)
      resolve(result)
    }
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.endsWith('\n') || text.length > longestReport) end({ text })
    })
    exited.then((signal) =>
      end({ how: signal === undefined ? 'it ended' : `it ended with ${signal}`, hung: false }),
    )
  })
}

/** Read from the kernel: the process may lie. */
function hasOwnNetwork(pid: number | undefined): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`) !== readlinkSync('/proc/self/ns/net')
  } catch {
    return false
  }
}
