import type { DispatchReceipt } from '../../records.ts'
import { toSafeLine } from '../../terminal/safe-text.ts'
import { paint, type Terminal } from '../../terminal.ts'

/** One line: `req_… fetch 200 ok · 1.2 ms CPU · 4 ms · 3.1 MB heap · 2 calls · 12 kB out`. */
export function printReceipt(terminal: Terminal, receipt: DispatchReceipt): void {
  const { request, type, outcome, status, integration } = receipt
  const result = `${status === undefined ? '' : `${status} `}${outcome}`
  terminal.print(
    paint('dim', `${new Date(endOf(receipt)).toISOString()} `),
    paint(outcome === 'ok' ? 'green' : 'red', 'used '),
    ` ${integration} ${request} ${toSafeLine(type)} `,
    paint(outcome === 'ok' ? 'green' : 'red', result),
    paint('dim', ` · ${describeUse(receipt)}`),
  )
}

/** When the dispatch was answered, in Unix ms. */
export const endOf = ({ startedAt, wallMs }: DispatchReceipt): number => Date.parse(startedAt) + wallMs

function describeUse(receipt: DispatchReceipt): string {
  const { cpuMs, wallMs, heapBytes, hostCalls, egressCalls, egressBytes } = receipt
  return [
    `${toShort(cpuMs)} ms CPU`,
    `${toShort(wallMs)} ms`,
    ...(heapBytes > 0 ? [`${toShort(heapBytes / 1e6)} MB heap`] : []),
    ...(hostCalls > 0 ? [`${hostCalls} ${hostCalls === 1 ? 'call' : 'calls'}`] : []),
    ...(egressCalls > 0 ? [`${toSize(egressBytes)} out`] : []),
  ].join(' · ')
}

/** `, with 1 outbound request and 2 deliveries or tasks`; nothing where there were none. */
export function describeCalls({ hostCalls, egressCalls }: DispatchReceipt): string {
  const queued = hostCalls - egressCalls
  const parts = [
    ...(egressCalls > 0 ? [`${egressCalls} outbound ${egressCalls === 1 ? 'request' : 'requests'}`] : []),
    ...(queued > 0 ? [`${queued} queued ${queued === 1 ? 'delivery or task' : 'deliveries or tasks'}`] : []),
  ]
  return parts.length === 0 ? '' : `, with ${parts.join(' and ')}`
}

/** One decimal below 10, none above. */
export const toShort = (number: number): string =>
  number < 10 ? String(Number(number.toFixed(1))) : number.toFixed(0)

function toSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  return bytes < 1e6 ? `${toShort(bytes / 1_000)} kB` : `${toShort(bytes / 1e6)} MB`
}
