// Deliveries a second, each stored durably, beside queues that people use for webhooks, in one run.
import { createTerminal, printTable, type Terminal } from '../../host/cli/terminal.ts'
import { messageOf } from '../../host/errors.ts'
import { measureRate, type Rate, toMedianRate } from './deliveries/measure-rate.ts'
import { inFlight, publishersAtOnce } from './deliveries/sender.ts'
import { startReceiver } from './deliveries/start-receiver.ts'
import { type Side, type SideName, sideNames, startSide } from './deliveries/start-sides.ts'
import { readOptions } from './measure/read-options.ts'
import { slowDisk } from './measure/slow-disk.ts'
import { describeMachine, type Goal, printGoals } from './report.ts'

const receivers = 5
const values = readOptions({
  quick: { type: 'boolean', default: false },
  rounds: { type: 'string' },
  events: { type: 'string' },
  /** Parts of the names of what to run, with commas between: all unless said. */
  only: { type: 'string', default: '' },
  /** Each sync of the disk takes as many ms more: those of who measures are mostly quick ones. */
  'sync-ms': { type: 'string' },
  json: { type: 'boolean', default: false },
})
const plan = {
  rounds: Number(values.rounds ?? (values.quick ? 2 : 5)),
  events: Number(values.events ?? (values.quick ? 500 : 4_000)),
  syncMs: Number(values['sync-ms'] ?? 0),
}
await bench(createTerminal(process, { json: values.json }))

async function bench(terminal: Terminal): Promise<void> {
  await using ends = new AsyncDisposableStack()
  const machine = describeMachine()
  const { rounds, events, syncMs } = plan
  terminal.say(machine.text)
  terminal.say(
    `${events} events to ${receivers} receivers each, 1 KiB, ${publishersAtOnce} publishers, ${inFlight} in flight, ${rounds} rounds in turn, medians`,
  )
  const receiver = await startReceiver(receivers)
  ends.defer(receiver.close)
  if (syncMs > 0) {
    ends.use(slowDisk(syncMs))
    terminal.say(`a sync of the disk takes ${syncMs} ms more`)
  }
  const started: Side[] = []
  for (const name of chosen()) {
    try {
      const side = await startSide(name, receiver.urls)
      ends.defer(side.close)
      started.push(side)
    } catch (error) {
      terminal.say(`${name} is left out: ${messageOf(error)}`)
    }
  }
  const measured = new Map(started.map(({ name }) => [name, [] as Rate[]]))
  // One short round before lets each compile its code.
  for (const side of started)
    await measureRate(receiver, side, { run: 'warm', events: Math.ceil(events / 4) })
  for (let round = 0; round < rounds; round++) {
    for (const side of started) {
      const rate = await measureRate(receiver, side, { run: `r${round}`, events })
      measured.get(side.name)?.push(rate)
      terminal.say(`  ${side.name}: ${Math.round(rate.perSecond)} deliveries/s`)
    }
  }
  const results = started.map(({ name, about }) => {
    const all = measured.get(name) ?? []
    return { name, about, median: toMedianRate(all), rounds: all }
  })
  const goals = toGoals(Object.fromEntries(results.map(({ name, median }) => [name, median.perSecond])))
  if (terminal.json) terminal.printJson({ machine, plan, results, goals })
  else {
    const rows = results.map(({ name, about, median }) => [
      name,
      String(Math.round(median.perSecond)),
      String(Math.round(median.publishedPerSecond)),
      median.cpuUs.toFixed(0),
      String(median.duplicates),
      about,
    ])
    printTable(terminal, ['', 'deliveries/s', 'events/s stored', 'CPU µs', 'twice', 'what'], rows)
    if (goals.length > 0) printGoals(terminal, goals)
  }
}

function chosen(): SideName[] {
  const parts = values.only.split(',')
  return sideNames.filter((name) => parts.some((part) => name.includes(part)))
}

/** Absolute numbers differ from machine to machine; ratios of one run hardly do. */
function toGoals(rates: Partial<Record<SideName, number>>): Goal[] {
  const ratios: [SideName, SideName, number][] = [
    ['Annex, SQLite, in process', 'BullMQ', 1.3],
    ['Annex, SQLite, POST /v1/events', 'BullMQ', 1],
    ['Annex, PostgreSQL, in process', 'Annex, SQLite, in process', 0.7],
    ['Annex, PostgreSQL, in process', 'graphile-worker', 1.5],
  ]
  return ratios.flatMap(([ours, theirs, atLeast]) => {
    const [mine, other] = [rates[ours], rates[theirs]]
    if (mine === undefined || other === undefined) return []
    return [{ name: `${ours} / ${theirs}`, value: mine / other, atLeast }]
  })
}
