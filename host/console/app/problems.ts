import { signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { api } from './api.ts'
import { type Problems, toProblems } from './sort-problems.ts'
import { type Load, useLoad } from './use-load.ts'

/** One reading for the overview, the navigation, the title and the icon of the tab. */
export const problems = signal<Load<Problems>>({ isLoading: true, reload: () => {} })

const everyMs = 10_000

/** Reads the problems again and again, for the page around. */
export function useProblems(org: string | undefined): void {
  const load = useLoad(
    `problems ${org}`,
    async (signal) => {
      if (org === undefined) return { org: '', here: [], elsewhere: new Map() }
      const { items } = await api.call('GET /v1/problems', { signal })
      return toProblems(org, items)
    },
    everyMs,
  )
  useLayoutEffect(() => {
    problems.value = load
  }, [load.value, load.error, load.isLoading, load.reload])
}

/** What needs the person in the organization of the address. */
export const problemCount = (): number => problems.value.value?.here.length ?? 0
