import type { AuditEntry } from '../../../../../schemas/generated/api/audit.ts'
import { type Change, toChanges } from '../../lists/audit-changes.ts'
import { Id } from '../../parts/copy.tsx'
import { auditTexts as texts } from '../../texts/audit.ts'

/** The values that a change concerns, with where it came from. */
export function Changes({ entry: { before, after, request, address } }: { entry: AuditEntry }) {
  const changes = toChanges(before, after)
  return (
    <details>
      <summary>{changes.length === 0 ? texts.noValues : texts.count(changes.length)}</summary>
      <ul class="audit-values">
        {changes.map((change) => (
          <li key={change.path}>
            <code>{change.path}</code>
            <Values change={change} />
          </li>
        ))}
        {request !== null && (
          <li>
            <span class="muted">{texts.request}</span> <Id value={request} />
          </li>
        )}
        {address !== null && (
          <li>
            <span class="muted">{texts.address}</span> <code>{address}</code>
          </li>
        )}
      </ul>
    </details>
  )
}

const Values = ({ change: { before, after } }: { change: Change }) => (
  <span class="stack">
    {before !== undefined && (
      <del>
        <bdi>{before}</bdi>
      </del>
    )}
    {after !== undefined && (
      <ins>
        <bdi>{after}</bdi>
      </ins>
    )}
  </span>
)
