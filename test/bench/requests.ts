// Requests per second through a sandboxed handler, beside bare Koa and beside workerd, in one run.
import { createTerminal, printTable, type Terminal } from '../../host/cli/terminal.ts'
import { messageOf } from '../../host/errors.ts'
import { type Compared, compare } from './measure/compare.ts'
import { readOptions } from './measure/read-options.ts'
import { findGenerator, type Generator } from './measure/run-load.ts'
import { describeMachine, type Goal, printGoals } from './report.ts'
import type { MeasuredServer } from './servers/measured-server.ts'
import { startEcho } from './servers/start-annex.ts'
import { startKoa } from './servers/start-koa.ts'
import { startWorkerd } from './servers/start-workerd.ts'

const values = readOptions({
  rounds: { type: 'string', default: '3' },
  seconds: { type: 'string', default: '4' },
  connections: { type: 'string', default: '50' },
  generator: { type: 'string', default: findGenerator() },
  json: { type: 'boolean', default: false },
})
const plan = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  connections: Number(values.connections),
  generator: values.generator as Generator,
}
await bench(createTerminal(process, { json: values.json }))

async function bench(terminal: Terminal): Promise<void> {
  await using ends = new AsyncDisposableStack()
  const servers: MeasuredServer[] = []
  ends.defer(async () => {
    await Promise.all(servers.map(({ close }) => close()))
  })
  servers.push(await startEcho(), await startKoa())
  const workerd = await startWorkerd().catch((error) => {
    terminal.say(`workerd does not run here, so it is left out: ${messageOf(error)}`)
  })
  if (workerd) servers.push(workerd)

  const machine = describeMachine()
  const { rounds, seconds, connections, generator } = plan
  terminal.say(machine.text)
  terminal.say(
    `POST, ${generator}, ${connections} connections, ${rounds} rounds of ${seconds} s in turn, medians`,
  )
  const compared = await compare(servers, plan, (name, { requestsPerSecond }) =>
    terminal.say(`  ${name}: ${Math.round(requestsPerSecond)} requests/s`),
  )
  const goals = toGoals(compared)
  if (terminal.json) terminal.printJson({ machine, plan, results: compared, goals })
  else printResults(terminal, compared, goals)
}

function printResults(terminal: Terminal, compared: Compared[], goals: Goal[]): void {
  const rows = compared.map(({ name, median }) => [
    name,
    String(Math.round(median.requestsPerSecond)),
    median.p50Ms.toFixed(1),
    median.p99Ms.toFixed(1),
    median.hostUs.toFixed(0),
    median.behindUs.toFixed(0),
    `${Math.round(median.loadShare * 100)} %`,
  ])
  const heads = ['server', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs', 'µs behind', 'load generator']
  printTable(terminal, heads, rows)
  printGoals(terminal, goals)
}

/** Absolute numbers differ from machine to machine; ratios of one run hardly do. */
function toGoals(compared: Compared[]): Goal[] {
  const named = Object.fromEntries(compared.map(({ name, median }) => [name, median]))
  const { Annex, Koa, workerd } = named
  const goals: Goal[] = []
  if (Annex && workerd) {
    const value = Annex.requestsPerSecond / workerd.requestsPerSecond
    goals.push({ name: 'requests, Annex / workerd', value, atLeast: 1.5 })
    goals.push({ name: 'p99, Annex / workerd', value: Annex.p99Ms / workerd.p99Ms, atMost: 1 })
  }
  if (Annex && Koa) {
    const value = Annex.requestsPerSecond / Koa.requestsPerSecond
    goals.push({ name: 'requests, Annex / Koa', value, atLeast: 0.45 })
  }
  return goals
}
