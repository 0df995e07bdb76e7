import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { firstOutput } from './first-output.ts'

/** Processes that use all the CPU time they get, at priority 0, until the end of the scope; at most two minutes. */
export async function startBusyLoops(count: number): Promise<AsyncDisposable> {
  const program = `const end = Date.now() + 120_000; process.stdout.write('on'); while (Date.now() < end);`
  const loops = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] }),
  )
  await Promise.all(loops.map(firstOutput))
  return {
    async [Symbol.asyncDispose]() {
      const ends = loops.map((loop) => once(loop, 'exit'))
      for (const loop of loops) loop.kill('SIGKILL')
      await Promise.all(ends)
    },
  }
}
