// `make bench`: requests per second through a sandboxed handler, beside bare Koa and beside workerd, in one run.
import { cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import workerdPackage from 'workerd/package.json' with { type: 'json' }
import { printTable } from '../../host/cli/terminal/table.ts'
import { createTerminal, type Terminal } from '../../host/cli/terminal/terminal.ts'
import { messageOf } from '../../host/errors/annex-error.ts'
import { type Compared, compare } from './compare.ts'
import type { MeasuredServer } from './measured-server.ts'
import { startAnnex } from './servers/start-annex.ts'
import { startKoa } from './servers/start-koa.ts'
import { startWorkerd } from './servers/start-workerd.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '50' },
    json: { type: 'boolean', default: false },
  },
})
const plan = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  connections: Number(values.connections),
}
await bench(createTerminal(process, { json: values.json }))

async function bench(terminal: Terminal): Promise<void> {
  await using ends = new AsyncDisposableStack()
  const servers = [await startAnnex()]
  ends.defer(() => closeAll(servers))
  servers.push(await startKoa())
  const workerd = await startWorkerd().catch((error) => {
    terminal.say(`workerd does not run here, so it is left out: ${messageOf(error)}`)
  })
  if (workerd) servers.push(workerd)

  const machine = describeMachine()
  const { rounds, seconds, connections } = plan
  terminal.say(machine.text)
  terminal.say(`POST, ${connections} connections, ${rounds} rounds of ${seconds} s in turn, medians`)
  const compared = await compare(servers, plan, (name, { requestsPerSecond }) =>
    terminal.say(`  ${name}: ${Math.round(requestsPerSecond)} requests/s`),
  )
  const ratios = toRatios(compared)
  if (terminal.json) terminal.printJson({ machine, plan, results: compared, ratios })
  else printResults(terminal, compared, ratios)
}

async function closeAll(servers: MeasuredServer[]): Promise<void> {
  await Promise.all(servers.map(({ close }) => close()))
}

function printResults(terminal: Terminal, compared: Compared[], ratios: Record<string, number>): void {
  const rows = compared.map(({ name, median }) => [
    name,
    String(Math.round(median.requestsPerSecond)),
    String(median.p50Ms),
    String(median.p99Ms),
  ])
  printTable(terminal, ['server', 'requests/s', 'p50 ms', 'p99 ms'], rows)
  for (const [name, ratio] of Object.entries(ratios)) terminal.print(`${name}  ${ratio.toFixed(2)}`)
}

/** Absolute numbers differ from machine to machine; ratios of one run hardly do. */
function toRatios(compared: Compared[]): Record<string, number> {
  const [annex, ...others] = compared.map(({ name, median }) => ({ name, rate: median.requestsPerSecond }))
  return Object.fromEntries(
    others.map(({ name, rate }) => [`Annex / ${name}`, Number(((annex?.rate ?? 0) / rate).toFixed(3))]),
  )
}

function describeMachine() {
  const [cpu] = cpus()
  const facts = {
    cpu: cpu?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    workerd: workerdPackage.version,
  }
  const text = `${facts.cpu}, ${facts.cores} cores, ${facts.memoryGb} GB, ${facts.platform}, Node ${facts.node}, workerd ${facts.workerd}`
  return { ...facts, text }
}
