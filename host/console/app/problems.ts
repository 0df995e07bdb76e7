import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Problem } from '../../../schemas/generated/api/problems.ts'
import { api } from './api.ts'
import { type Load, useLoad } from './use-load.ts'

export type Problems = {
  org: string
  /** Those of the organization, and those of this Annex as a whole for an operator. */
  here: Problem[]
  /** How many an operator has in other organizations, by their subdomains. */
  elsewhere: Map<string, number>
}

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
  useEffect(() => {
    problems.value = load
  }, [load.value, load.error, load.isLoading, load.reload])
}

export function toProblems(org: string, items: readonly Problem[]): Problems {
  const isHere = ({ organization, organizationSubdomain }: Problem) =>
    organization === null || organization === org || organizationSubdomain === org
  const elsewhere = new Map<string, number>()
  for (const one of items) {
    const name = one.organizationSubdomain ?? ''
    if (!isHere(one)) elsewhere.set(name, (elsewhere.get(name) ?? 0) + 1)
  }
  return { org, here: items.filter(isHere), elsewhere }
}

/** What needs the person in the organization of the address. */
export const problemCount = (): number => problems.value.value?.here.length ?? 0
