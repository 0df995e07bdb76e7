import { useRef, useState } from 'preact/hooks'
import type { Receipt } from '../../../../../schemas/generated/api/receipts.ts'
import { api } from '../../api.ts'
import { type Load, useLoad } from '../../use-load.ts'

export type Filter = Partial<Record<'outcome' | 'type' | 'installation' | 'event', string>>

const pageSize = 100
const everyMs = 5_000

type Shown = { items: Receipt[]; next: string | undefined }

/** A page of the list. A receipt does not change, so rows keep their place, and new ones are counted until they are asked for. */
export function useDispatches(
  org: string,
  filter: Filter,
  page: string | undefined,
): {
  list: Load<Shown>
  waiting: { count: number; isMore: boolean }
  showNew: () => void
  newerPage: string | undefined
} {
  const [turn, setTurn] = useState(0)
  const key = `dispatches ${org} ${JSON.stringify(filter)} ${page} ${turn}`
  /** The API leads to older pages alone. */
  const newer = useRef(new Map<string, string | undefined>())
  const query = { organization: org, limit: pageSize, ...filter }
  const list = useLoad(key, async (signal): Promise<Shown> => {
    const { items, next } = await api.call('GET /v1/receipts', {
      query: { ...query, ...(page !== undefined && { page }) },
      signal,
    })
    if (next !== undefined) newer.current.set(next.page, page)
    return { items, next: next?.page }
  })
  const newest = list.value?.items[0]?.id ?? 0
  const isWatched = page === undefined && list.value !== undefined
  const since = useLoad(
    `${key} after ${isWatched && newest}`,
    async (signal) => {
      if (!isWatched) return undefined
      return api.call('GET /v1/receipts', { query: { ...query, after: newest }, signal })
    },
    everyMs,
  )
  return {
    list,
    waiting: { count: since.value?.count ?? 0, isMore: since.value?.next !== undefined },
    showNew: () => setTurn((n) => n + 1),
    newerPage: page === undefined ? undefined : newer.current.get(page),
  }
}
