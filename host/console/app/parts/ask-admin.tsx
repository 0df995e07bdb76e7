import { roleHere } from '../person.ts'
import { me } from '../state.ts'
import { texts } from '../texts.ts'
import { CopyButton } from './copy.tsx'
import { Icon } from './icon.tsx'

/** For a person whose role may not call an operation: a link to hand on, to this page as it is. */
export function AskAdmin({ operation }: { operation: string }) {
  const { askAdmin, askAdminWhat, copyLink } = texts.install
  return (
    <div class="note wide">
      <Icon name="person" />
      <div>
        <strong>{askAdmin}</strong>
        <span>{askAdminWhat(me.value?.needs?.[operation] ?? '', roleHere() ?? '')}</span>
        <div class="row">
          <code>{location.href}</code>
          <CopyButton text={location.href} label={copyLink} />
        </div>
      </div>
    </div>
  )
}
