// How long an installation is without an answer when its sandbox process is killed under load.
import { setTimeout as sleep } from 'node:timers/promises'
import { createTerminal } from '../../host/cli/terminal.ts'
import { ask } from './measure/ask.ts'
import { readUsed } from './measure/cpu-time.ts'
import { median } from './measure/quantile.ts'
import { describeMachine, printGoals } from './report.ts'
import { startEcho } from './servers/start-annex.ts'

const kills = 10
const loadedBy = 20
/** A process that lived for less than a second is started again with the next request only. */
const betweenMs = 1_500

const terminal = createTerminal(process)
await using ends = new AsyncDisposableStack()
const annex = await startEcho()
ends.defer(annex.close)
const [url = ''] = annex.urls
for (let i = 0; i < 200; i++) await ask(url)

let isOver = false
let failed = 0
const load = Array.from({ length: loadedBy }, async () => {
  while (!isOver) {
    await ask(url).catch(() => {
      failed += 1
    })
    await sleep(5)
  }
})
const times: number[] = []
for (let i = 0; i < kills; i++) {
  const before = cpuTimes()
  await sleep(betweenMs)
  const serving = busiest(before, cpuTimes())
  const startedAt = performance.now()
  process.kill(serving, 'SIGKILL')
  while (!(await isAnswered())) await sleep(1)
  times.push(performance.now() - startedAt)
}
isOver = true
await Promise.all(load)

terminal.say(describeMachine().text)
terminal.say(
  `${kills} times SIGKILL, under ${loadedBy} requests at once; of these ${failed} in flight were cut off`,
)
const [middle, longest] = [median(times), Math.max(...times)]
printGoals(terminal, [
  { name: 'from the kill to an answer, median', value: middle, unit: 'ms', atMost: 200 },
  { name: 'from the kill to an answer, longest', value: longest, unit: 'ms', atMost: 200 },
])

function cpuTimes(): Map<number, number> {
  return new Map((annex.behind?.() ?? []).map((pid) => [pid, readUsed(pid)?.cpuMs ?? 0]))
}

/** The process that answers, and not the one that waits to take its place. */
function busiest(before: Map<number, number>, after: Map<number, number>): number {
  const used = [...after].map(([pid, ms]) => ({ pid, ms: ms - (before.get(pid) ?? ms) }))
  return used.toSorted((a, b) => b.ms - a.ms)[0]?.pid ?? 0
}

function isAnswered(): Promise<boolean> {
  return ask(url).then(
    () => true,
    () => false,
  )
}
