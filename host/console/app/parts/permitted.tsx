import type { ComponentChildren } from 'preact'
import { reasonAgainst } from '../person.ts'
import { me } from '../state.ts'
import { texts } from '../texts.ts'

/** What the role may not read is not asked for: its place says which role it needs. */
export function Permitted({ operation, children }: { operation: string; children: ComponentChildren }) {
  const reason = reasonAgainst(operation)
  if (reason !== undefined) return <div class="empty">{reason}</div>
  return <>{children}</>
}

/** What concerns Annex as a whole. */
export function OperatorsOnly({ children }: { children: ComponentChildren }) {
  if (!me.value?.account?.operator) return <div class="empty">{texts.onlyOperator}</div>
  return <>{children}</>
}
