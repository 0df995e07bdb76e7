import type { Manifest, Property } from '../../../schemas/generated/manifest.ts'
import { quoteValue } from '../message-text.ts'
import type { Finding } from './finding.ts'

/** Entries of lists that may stand there once only, each reported where it stands again. */
export function checkDuplicates(manifest: Partial<Manifest>): Finding[] {
  const findings: Finding[] = []
  const check = (
    list: readonly unknown[] | undefined,
    pointer: string,
    pick: (entry: never) => string,
    step = '',
  ) => {
    const seen = new Set<string>()
    list?.forEach((entry, index) => {
      const value = pick(entry as never)
      if (seen.has(value)) {
        const message = `${quoteValue(value)} is given twice`
        findings.push({
          pointer: `${pointer}/${index}${step}`,
          at: 'value',
          message,
          hint: 'keep one of them',
        })
      }
      seen.add(value)
    })
  }
  const whole = (entry: string) => entry
  const id = (entry: { id: string }) => entry.id
  check(manifest.scopes, '/scopes', whole)
  check(manifest.categories, '/categories', whole)
  check(manifest.blocks, '/blocks', id, '/id')
  check(manifest.contentSources, '/contentSources', id, '/id')
  for (const [level, declared] of Object.entries(manifest.configurations ?? {})) {
    check(declared?.required, `/configurations/${level}/required`, whole)
    for (const [name, property] of Object.entries<Property | undefined>(declared?.properties ?? {})) {
      if (property?.type !== 'string') continue
      check(property.enum, `/configurations/${level}/properties/${name}/enum`, whole)
    }
  }
  return findings
}
