import type { Permission } from '../../../../schemas/generated/api/versions.ts'
import { texts } from '../texts.ts'
import { Icon } from './icon.tsx'

/** The sentences of permissions, by what they are about. */
export function PermissionList({ permissions }: { permissions: readonly Permission[] }) {
  const groups = Map.groupBy(permissions, ({ kind }) => texts.integration.groups[kind])
  return (
    <div class="permissions">
      {[...groups].map(([title, members]) => (
        <div key={title}>
          <h3>{title}</h3>
          <ul>
            {members.map(({ kind, name, sentence }) => (
              <li key={`${kind} ${name}`}>
                <Icon name="check" />
                <span>{sentence}</span>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  )
}
