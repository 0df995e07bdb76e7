import type { Db } from '../db/db.ts'
import { insertMoved, type MovedRow, type MovedTable } from '../db/queries/moved/import-rows.ts'

export type RowWriter = {
  put: <Table extends MovedTable>(table: Table, row: MovedRow<Table>) => Promise<void>
  flush: () => Promise<void>
}

const mostRows = 500

/** Each before those that refer to it. */
const order = [
  ...(['installations', 'installationTargets', 'endpoints', 'deliveryCounts', 'events'] as const),
  ...(['bodies', 'deliveries', 'attempts', 'jobs'] as const),
] satisfies MovedTable[]

/** Stores rows some hundreds at a time. */
export function createRowWriter(transaction: Db): RowWriter {
  const waiting = new Map<MovedTable, MovedRow<MovedTable>[]>()
  let count = 0
  return {
    async put(table, row) {
      const rows = waiting.get(table) ?? []
      waiting.set(table, rows)
      rows.push(row as MovedRow<MovedTable>)
      count += 1
      if (count >= mostRows) await flush()
    },
    flush,
  }

  async function flush(): Promise<void> {
    for (const table of order) await insertMoved(transaction, table, waiting.get(table) ?? [])
    waiting.clear()
    count = 0
  }
}
