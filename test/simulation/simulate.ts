import { createSimulation, describeReport } from './create-simulation.ts'

/**
 * Plays schedules and prints those that break a rule: `make simulate SCHEDULES=100000`, or one with all that happened
 * in it: `SEED=42 make simulate`. Exit code 1 when a rule was broken.
 */
const { SEED = '', SCHEDULES = '' } = process.env
const isOne = SEED !== '' && SCHEDULES === ''
const first = Number(SEED || 1)
const count = isOne ? 1 : Number(SCHEDULES || 10_000)
if (!Number.isInteger(first) || !Number.isInteger(count)) {
  console.error('SEED and SCHEDULES are whole numbers.')
  process.exit(2)
}

const simulation = await createSimulation()
const began = performance.now()
let broken = 0
let sent = 0
for (let seed = first; seed < first + count; seed++) {
  const report = await simulation.run(seed)
  sent += report.sent
  if (report.broken !== undefined) broken += 1
  if (report.broken !== undefined || isOne) console.log(describeReport(report))
}
const seconds = ((performance.now() - began) / 1_000).toFixed(1)
console.log(`${count} schedules from seed ${first}: ${sent} requests, ${broken} broken, ${seconds} s`)
if (sent === 0) console.log('Nothing was sent: the simulation itself is broken.')
process.exitCode = broken > 0 || sent === 0 ? 1 : 0
