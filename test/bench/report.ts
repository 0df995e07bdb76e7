import { cpus, totalmem } from 'node:os'
import workerdPackage from 'workerd/package.json' with { type: 'json' }
import { printTable, type Terminal } from '../../host/cli/terminal.ts'
import { quantile } from './measure/quantile.ts'

/** What was measured beside what it should be. */
export type Goal = { name: string; value: number; unit?: string; atLeast?: number; atMost?: number }

const isMet = ({ value, atLeast = -Infinity, atMost = Infinity }: Goal): boolean =>
  value >= atLeast && value <= atMost

/** A missed goal is said, and fails nothing: a benchmark is no test. */
export function printGoals(terminal: Terminal, goals: Goal[]): void {
  const rows = goals.map((goal) => [
    goal.name,
    withUnit(goal.value, goal),
    goal.atLeast === undefined
      ? `at most ${withUnit(goal.atMost ?? 0, goal)}`
      : `at least ${withUnit(goal.atLeast, goal)}`,
    isMet(goal) ? 'met' : 'missed',
  ])
  printTable(terminal, ['', 'measured', 'wanted', ''], rows)
}

/** The middle of some times, their last hundredth, and the slowest, in ms. */
export function printTimes(
  terminal: Terminal,
  title: string,
  measured: [name: string, times: number[]][],
): void {
  const rows = measured.map(([name, times]) => {
    const shown = [quantile(times, 0.5), quantile(times, 0.99), Math.max(...times)]
    return [name, ...shown.map((ms) => ms.toFixed(1))]
  })
  printTable(terminal, [title, 'p50 ms', 'p99 ms', 'slowest ms'], rows)
}

function withUnit(value: number, { unit }: Goal): string {
  const rounded = Math.abs(value) >= 100 ? Math.round(value) : Number(value.toFixed(2))
  return unit === undefined ? String(rounded) : `${rounded} ${unit}`
}

/** Absolute numbers are this machine's. */
export function describeMachine() {
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
