import { useRef, useState } from 'preact/hooks'
import type { Delivery } from '../../../../../schemas/generated/api/deliveries.ts'
import { api } from '../../api.ts'
import { type Filter, toQuery, writeFilter } from '../../deliveries/filter.ts'
import { mergeRows } from '../../deliveries/merge-rows.ts'
import { type Load, useLoad } from '../../use-load.ts'

const pageSize = 100

type Shown = {
  rows: Delivery[]
  /** New ones that are not on the screen. `isMore`: there are more than were counted. */
  waiting: number
  isMore: boolean
  next: string | undefined
  retentionDays: number | undefined
}

/** A page of the list that keeps its rows in their place while their states change. */
export function useDeliveries(
  org: string,
  filter: Filter,
  page: string | undefined,
): { list: Load<Shown>; showNew: () => void; newerPage: string | undefined } {
  const [turn, setTurn] = useState(0)
  const key = `deliveries ${org} ${writeFilter(filter, page)} ${turn}`
  const shown = useRef<{ key: string; value: Shown } | undefined>(undefined)
  /** The API leads to older pages alone. */
  const newer = useRef(new Map<string, string | undefined>())
  const list = useLoad(key, async (signal): Promise<Shown> => {
    const before = shown.current?.key === key ? shown.current.value : undefined
    const isFirst = before === undefined || before.rows.length === 0
    const { items, next, retentionDays } = await api.call('GET /v1/deliveries', {
      query: {
        organization: org,
        // Those that are new come before those that are shown.
        limit: isFirst || page !== undefined ? pageSize : 2 * pageSize,
        ...toQuery(filter, Date.now()),
        ...(page !== undefined && { page }),
      },
      signal,
    })
    const value = isFirst
      ? { rows: items, waiting: 0, isMore: false, next: next?.page, retentionDays }
      : update(before, items, next === undefined)
    shown.current = { key, value }
    if (value.next !== undefined) newer.current.set(value.next, page)
    return value
  })
  const showNew = () => setTurn((n) => n + 1)
  return { list, showNew, newerPage: page === undefined ? undefined : newer.current.get(page) }
}

function update(before: Shown, items: Delivery[], isWhole: boolean): Shown {
  const { rows, waiting } = mergeRows(before.rows, items, isWhole)
  return { ...before, rows, waiting, isMore: !isWhole && waiting === items.length }
}
