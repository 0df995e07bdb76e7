import { useRef, useState } from 'preact/hooks'
import { type Load, useLoad } from '../use-load.ts'
import { mergeRows } from './merge-rows.ts'

const pageSize = 100

/** A page of the API. */
type Answer<Row> = { items: readonly Row[]; next?: { page: string } }

export type Shown<Row, Of> = {
  rows: Row[]
  /** New ones that are not on the screen. `isMore`: there are more than were counted. */
  waiting: number
  isMore: boolean
  next: string | undefined
  /** The answer that the rows came with first. */
  answer: Of
}

export type Rows<Row, Of> = {
  list: Load<Shown<Row, Of>>
  showNew: () => void
  page: string | undefined
  newerPage: string | undefined
  order: Order
}

/** What comes first. With `oldest` each reading replaces the rows. */
type Order = 'newest' | 'oldest'

/** The key of a row whose id is a number: keys are compared as texts. */
export const numberKey = (id: number): string => String(id).padStart(15, '0')

/**
 * A page of a list. With the newest first, its rows keep their place while it is read again.
 *
 * @param key names the list with its filter
 * @param page of the address
 * @param everyMs reads again and again while the tab is visible
 */
export function useRows<Row extends { id: string }, Of extends Answer<Row>>(
  key: string,
  page: string | undefined,
  read: (at: { limit: number; page?: string }, signal: AbortSignal) => Promise<Of & Answer<Row>>,
  everyMs?: number,
  order: Order = 'newest',
): Rows<Row, Of> {
  const [turn, setTurn] = useState(0)
  const whole = `${key} ${page ?? ''} ${order} ${turn}`
  const shown = useRef<{ whole: string; value: Shown<Row, Of> } | undefined>(undefined)
  const list = useLoad(
    whole,
    async (signal): Promise<Shown<Row, Of>> => {
      const before = shown.current?.whole === whole ? shown.current.value : undefined
      const isFirst = before === undefined || before.rows.length === 0 || order === 'oldest'
      // Those that are new come before those that are shown.
      const limit = isFirst || page !== undefined ? pageSize : 2 * pageSize
      const answer = await read({ limit, ...(page !== undefined && { page }) }, signal)
      const { items, next } = answer
      const value = isFirst
        ? { rows: [...items], waiting: 0, isMore: false, next: next?.page, answer }
        : update(before, items, next === undefined)
      shown.current = { whole, value }
      if (value.next !== undefined && page !== undefined) rememberNewer(key, value.next, page)
      return value
    },
    page === undefined ? everyMs : undefined,
  )
  const newerPage = page === undefined ? undefined : newerOf(key, page)
  return { list, showNew: () => setTurn((n) => n + 1), page, newerPage, order }
}

function update<Row extends { id: string }, Of>(
  before: Shown<Row, Of>,
  items: readonly Row[],
  isWhole: boolean,
): Shown<Row, Of> {
  const isEnd = before.next === undefined
  const { rows, waiting } = mergeRows(before.rows, items, { isWhole, isEnd })
  return { ...before, rows, waiting, isMore: !isWhole && waiting === items.length }
}

/** The API leads to older pages alone. The tab knows the way that the person came, also after a reload. */
const storageKey = (key: string, page: string) => `annex.newer ${key} ${page}`
const rememberNewer = (key: string, page: string, newer: string): void =>
  sessionStorage.setItem(storageKey(key, page), newer)
const newerOf = (key: string, page: string): string | undefined =>
  sessionStorage.getItem(storageKey(key, page)) ?? undefined
