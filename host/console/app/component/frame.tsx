import { componentTexts as texts } from '../texts/component.ts'
import { toUrl } from './bindings.ts'
import { isFields } from './tree.ts'
import type { Draw } from './view.ts'

export function Frame({ element, view }: Draw) {
  const { source } = element
  const url = toUrl(isFields(source) ? source.url : undefined, view.state)
  if (url === undefined) return <p class="muted small">{texts.noFrame}</p>
  return (
    <iframe
      class="c-frame"
      src={url.href}
      title={texts.outside(url.host)}
      sandbox="allow-scripts allow-forms"
      referrerpolicy="no-referrer"
    />
  )
}
