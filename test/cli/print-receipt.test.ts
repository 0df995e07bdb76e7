import assert from 'node:assert/strict'
import { it } from 'node:test'
import { describeCalls, printReceipt } from '../../host/cli/logs.ts'
import { createTerminal } from '../../host/cli/terminal.ts'
import type { Receipt } from '../../schemas/generated/api/receipts.ts'

const receipt: Receipt = {
  object: 'receipt',
  id: 1,
  request: 'req_1',
  integration: 'echo',
  type: 'fetch',
  outcome: 'ok',
  status: 200,
  startedAt: '2026-01-01T12:00:00.000Z',
  cpuMs: 1.234,
  wallMs: 4,
  heapBytes: 3_100_000,
  egressCalls: 1,
  egressBytes: 12_000,
  hostCalls: 2,
  deliveries: 0,
  tasks: 0,
}

const lines: [name: string, more: Partial<Receipt>, line: string][] = [
  ['all of it', {}, 'fetch 200 ok · 1.2 ms CPU · 4 ms · 3.1 MB heap · 2 calls · 12 kB out'],
  ['no calls', { hostCalls: 0, egressCalls: 0 }, 'fetch 200 ok · 1.2 ms CPU · 4 ms · 3.1 MB heap'],
  ['one call', { hostCalls: 1, egressCalls: 0 }, 'fetch 200 ok · 1.2 ms CPU · 4 ms · 3.1 MB heap · 1 call'],
  [
    'a script that writes to the terminal',
    { type: 'task\n\x1b[2J', outcome: 'cpu_limit', hostCalls: 0, egressCalls: 0 },
    'task\\x0a\\x1b[2J 200 cpu_limit · 1.2 ms CPU · 4 ms · 3.1 MB heap',
  ],
]

for (const [name, more, line] of lines) {
  it(`a receipt takes one line: ${name}`, () => {
    let printed = ''
    const write = (text: string) => {
      printed += text
      return true
    }
    const stdout = { write }
    printReceipt(createTerminal({ stdout, stderr: stdout, env: {} }), { ...receipt, ...more })
    assert.equal(printed, `2026-01-01T12:00:00.004Z used  echo req_1 ${line}\n`)
  })
}

const counts: [Partial<Receipt>, string][] = [
  [{ egressCalls: 0, hostCalls: 9 }, ''],
  [{ egressCalls: 0, hostCalls: 9, deliveries: 1 }, ', with 1 delivery'],
  [{ egressCalls: 2, deliveries: 1 }, ', with 2 outbound requests and 1 delivery'],
  [{ egressCalls: 1, deliveries: 2, tasks: 1 }, ', with 1 outbound request, 2 deliveries and 1 task'],
]
for (const [more, text] of counts) {
  it(`the calls of a handler are counted without storage calls: ${text || 'none'}`, () => {
    assert.equal(describeCalls({ ...receipt, ...more }), text)
  })
}
