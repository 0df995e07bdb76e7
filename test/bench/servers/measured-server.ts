import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** One of the servers that are compared: all do the same, each in processes of its own. */
export type MeasuredServer = {
  name: string
  urls: string[]
  /** The process that takes the requests. */
  pid: number
  /** Those behind it. */
  behind?: () => number[]
  close: () => Promise<void>
}

const startMs = 30_000

/**
 * Starts a server as a process of its own, and reads where it listens from the first line that it prints.
 *
 * @param options.lineFrom index in `stdio` of what the line comes from; default 1, its stdout
 * @throws Error with what it said on stderr when it ends before
 */
export async function startChild(
  command: string,
  args: string[],
  options: SpawnOptions & { lineFrom?: number } = {},
): Promise<{ line: string; pid: number; close: () => Promise<void> }> {
  const { lineFrom = 1, ...spawnOptions } = options
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...spawnOptions })
  const close = () => end(child)
  let said = ''
  child.stderr?.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-2_000)
  })
  try {
    const line = await Promise.race([
      firstLine(child.stdio[lineFrom] as Readable),
      once(child, 'error').then(([error]) => Promise.reject(error)),
      once(child, 'exit').then(() => Promise.reject(new Error(`${command} ended at its start: ${said}`))),
      timeout(`${command} printed no address in ${startMs} ms: ${said}`),
    ])
    return { line, pid: child.pid ?? 0, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function firstLine(stream: Readable): Promise<string> {
  const lines = createInterface({ input: stream })
  const [line] = await once(lines, 'line')
  return String(line)
}

function timeout(message: string): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(message)), startMs).unref()
  })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
  await ended
  clearTimeout(timer)
}
