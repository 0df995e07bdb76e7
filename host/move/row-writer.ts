import type { Db } from '../db/db.ts'
import { insertMoved, type MovedRow, type MovedTable } from '../db/queries/moved/import-rows.ts'

export type RowWriter = {
  put: <Table extends MovedTable>(table: Table, row: MovedRow<Table>) => Promise<void>
  flush: () => Promise<void>
}

/** `text` in characters. */
const most = { rows: 500, text: 4 * 1024 * 1024 }

/** Each before those that refer to it. */
const order = [
  ...(['installations', 'installationTargets', 'endpoints', 'deliveryCounts', 'events'] as const),
  ...(['bodies', 'deliveries', 'attempts', 'jobs'] as const),
] satisfies MovedTable[]

/** Stores rows some hundreds at a time, large ones as soon as there is much text. */
export function createRowWriter(transaction: Db): RowWriter {
  const waiting = new Map<MovedTable, MovedRow<MovedTable>[]>()
  let count = 0
  let text = 0
  return {
    async put(table, row) {
      const rows = waiting.get(table) ?? []
      waiting.set(table, rows)
      rows.push(row as MovedRow<MovedTable>)
      count += 1
      text += lengthOf(row)
      if (count >= most.rows || text >= most.text) await flush()
    },
    flush,
  }

  async function flush(): Promise<void> {
    for (const table of order) await insertMoved(transaction, table, waiting.get(table) ?? [])
    waiting.clear()
    count = 0
    text = 0
  }
}

const lengthOf = (row: object): number =>
  Object.values(row).reduce((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)
