import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Case } from './list-cases.ts'
import type { Subtest } from './run-case.ts'

type Message = { ready?: true; subtests?: Subtest[] }

const startTimeoutMs = 60_000
/** What a case gets beyond its own time-out before its process is taken for hung. */
const graceMs = 20_000

/** Runs cases in `jobs` processes side by side. A case whose process ends or hangs has one failed subtest. */
export const runCases = async (
  wptFolder: string,
  cases: Case[],
  jobs: number,
  onDone: (given: Case, subtests: Subtest[]) => void,
): Promise<void> => {
  const waiting = [...cases]
  const lane = async (): Promise<void> => {
    let child: ChildProcess | undefined
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      child ??= await startProcess(wptFolder)
      const subtests = await runIn(child, next)
      if (subtests === undefined) {
        child.kill('SIGKILL')
        child = undefined
      }
      onDone(next, subtests ?? [{ name: '(process)', passed: false, message: 'crashed or hung' }])
    }
    child?.kill('SIGKILL')
  }
  await Promise.all(Array.from({ length: jobs }, lane))
}

const startProcess = async (wptFolder: string): Promise<ChildProcess> => {
  const file = fileURLToPath(new URL('case-process.ts', import.meta.url))
  const child = fork(file, [wptFolder], {
    execArgv: ['--no-node-snapshot', '--expose-gc'],
    serialization: 'advanced',
  })
  if ((await nextMessage(child, startTimeoutMs))?.ready === true) return child
  child.kill('SIGKILL')
  throw new Error('A process for test cases did not start: its error is above')
}

const runIn = async (child: ChildProcess, given: Case): Promise<Subtest[] | undefined> => {
  child.send(given)
  return (await nextMessage(child, given.timeoutMs + graceMs))?.subtests
}

/** `undefined` where the process ended, or said nothing in time. */
const nextMessage = (child: ChildProcess, timeoutMs: number): Promise<Message | undefined> =>
  new Promise((resolve) => {
    const settle = (message: Message | undefined) => {
      clearTimeout(timer)
      child.off('message', settle)
      child.off('exit', onExit)
      resolve(message)
    }
    const onExit = () => settle(undefined)
    const timer = setTimeout(onExit, timeoutMs)
    child.on('message', settle)
    child.on('exit', onExit)
  })
