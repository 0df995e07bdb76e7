import type { AgreedPermission } from '../../../../../schemas/generated/api/versions.ts'
import { Time } from '../../parts/time.tsx'
import { usedTexts as texts } from '../../texts/used.ts'

const dayMs = 86_400_000
const daysCounted = 30

type Counted = { countedSince: string }

/** The agreed permissions. Each scope says how often the script has used it. */
export function Agreed({ of, countedSince }: { of: readonly AgreedPermission[] } & Counted) {
  return (
    <>
      <ul class="bullets apart">
        {of.map((permission) => (
          <li key={`${permission.kind} ${permission.name}`}>
            {permission.sentence}
            <Uses {...{ permission, countedSince }} />
          </li>
        ))}
      </ul>
      {of.some(({ kind }) => kind === 'scope') && <p class="until">{texts.what}</p>}
    </>
  )
}

function Uses({ permission, countedSince }: { permission: AgreedPermission } & Counted) {
  const { usedLast30Days, lastUsedOn } = permission
  if (usedLast30Days === undefined) return null
  const today = Math.floor(Date.now() / dayMs)
  if (lastUsedOn != null) {
    const daysAgo = Math.max(0, today - Date.parse(lastUsedOn) / dayMs)
    return <p class="muted">{texts.used(usedLast30Days, daysAgo)}</p>
  }
  if (today - Math.floor(Date.parse(countedSince) / dayMs) >= daysCounted)
    return <p class="muted">{texts.unused}</p>
  return (
    <p class="muted">
      {texts.notYet} <Time at={countedSince} />.
    </p>
  )
}
