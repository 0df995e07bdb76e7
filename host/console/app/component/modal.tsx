import { ControlButton } from './control-button.tsx'
import { isElement, toText } from './tree.ts'
import type { Draw } from './view.ts'

/** What a modal has below its title: the dialog around shows the title. */
export const Modal = ({ element, view }: Draw) => {
  const { subtitle, submit, children } = element
  return (
    <div class="c-stack">
      {subtitle !== undefined && (
        <div class="muted" dir="auto">
          {view.draw(subtitle)}
        </div>
      )}
      {view.draw(children)}
      {isElement(submit) && submit.type === 'button' && (
        <div class="row c-submit">
          <ControlButton given={{ style: 'primary', ...submit }} view={view} />
        </div>
      )}
    </div>
  )
}

export const titleOf = (tree: unknown): string | undefined => {
  const root = Array.isArray(tree) ? tree[0] : tree
  return isElement(root) && root.type === 'modal' ? toText(root.title) : undefined
}
