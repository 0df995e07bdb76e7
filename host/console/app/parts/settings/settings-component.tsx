import { ComponentView } from '../../component/component.tsx'
import type { ReadLevel } from '../../level.ts'
import { sayDone } from '../../state.ts'
import { installationTexts as texts } from '../../texts/installation.ts'

/** The component that asks for the settings of a level. The script stores them itself: the level is read again after each action. */
export function SettingsComponent({
  read,
  name,
  onSaved,
}: {
  read: ReadLevel
  name: string
  onSaved: () => void
}) {
  const { place, installation } = read.name
  const level = place && (place.kind === 'site' ? { site: place.id } : { space: place.id })
  return (
    <section class="card">
      <h2>{texts.component.what}</h2>
      <ComponentView
        integration={read.account.integration}
        installation={installation}
        level={level}
        componentId={name}
        onAction={onSaved}
        onComplete={() => sayDone(texts.component.done)}
      />
    </section>
  )
}
