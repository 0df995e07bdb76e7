import { printTable, type Terminal } from '../../../host/cli/terminal.ts'
import { quantile } from '../../bench/measure/quantile.ts'
import type { Ledger } from './count-deliveries.ts'
import { mostInFlight } from './run-kills.ts'

/** What must not be, in words. */
export function wrongsOf({ lost, duplicates, unexplained, history, refused, seed }: Ledger): string[] {
  const { withinOneLife, mostForOneKill, beyondFlight } = duplicates
  const wrongs = {
    [`${lost.length} deliveries were lost: ${lost.slice(0, 5).join(', ')}`]: lost.length > 0,
    [`${history.owed} deliveries are still owed`]: history.owed > 0,
    [`${history.failed} deliveries are kept as failed, though no receiver refused one for good`]:
      history.failed > 0,
    [`${withinOneLife.length} deliveries came again without a kill: ${withinOneLife.slice(0, 5).join(', ')}`]:
      withinOneLife.length > 0,
    [`${mostForOneKill} duplicates of one kill, of ${mostInFlight} that can be in flight`]:
      mostForOneKill > mostInFlight,
    // An attempt is in flight from its claim until its outcome is stored. An attempt that was cut off before is marked.
    [`${beyondFlight} more duplicates of one kill than it cut off attempts`]: beyondFlight > 0,
    [`${unexplained} duplicates have no interrupted attempt`]: unexplained > 0,
    [`publishing was refused: ${[...refused].map(([why, count]) => `${count} x ${why}`).join(', ')}`]:
      refused.size > 0,
  }
  return Object.entries(wrongs).flatMap(([wrong, isSo]) => (isSo ? [`${wrong} (SEED=${seed})`] : []))
}

export function printLedger(terminal: Terminal, ledger: Ledger): void {
  const { duplicates, history, resumes } = ledger
  const resumeMs = resumes.map(({ ms }) => ms)
  const late = resumes.filter(({ ms }) => ms > 1_000)
  const rows: [string, string | number][] = [
    ...[...ledger.kills].map(([kill, count]): [string, number] => [`kills: ${kill}`, count]),
    ['events published', ledger.published],
    ['events acknowledged', ledger.acknowledged],
    ['deliveries owed for these', ledger.owed],
    ['delivered at least once', ledger.delivered],
    ['lost', ledger.lost.length],
    ['arrivals', ledger.arrivals],
    ['of these answered with 503', ledger.refusedArrivals],
    ['duplicates across a kill', duplicates.acrossKills],
    [`most for one kill, of ${mostInFlight} that can be in flight`, duplicates.mostForOneKill],
    ['of one kill, beyond what was in flight', duplicates.beyondFlight],
    ['duplicates without a kill', duplicates.withinOneLife.length],
    ['attempts kept as interrupted', history.interrupted.begunAtMs.length],
    ['duplicates without an interrupted attempt', ledger.unexplained],
    ['deliveries kept as failed', history.failed],
    ['starts with work to take up', resumeMs.length],
    ['start to first owed delivery, p50', `${Math.round(quantile(resumeMs, 0.5))} ms`],
    ['the slowest', `${Math.round(Math.max(0, ...resumeMs))} ms`],
    ['later than 1 s', late.length],
    ['seed', ledger.seed],
  ]
  printTable(
    terminal,
    ['', ''],
    rows.map(([name, value]) => [name, String(value)]),
  )
  for (const { ms, key, life } of late)
    terminal.print(`late: start ${life + 1}, ${key} after ${Math.round(ms)} ms`)
}
