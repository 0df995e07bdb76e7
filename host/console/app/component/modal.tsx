import { componentTexts as texts } from '../texts/component.ts'
import { resolve } from './bindings.ts'
import { ControlButton } from './control-button.tsx'
import { type Element, type Fields, isElement } from './tree.ts'
import type { Draw } from './view.ts'

/** What a modal has below its title: the dialog around shows the title. */
export const Modal = ({ element, view }: Draw) => {
  const { subtitle, submit, children, size } = element
  return (
    <div class={`c-stack${size === 'xlarge' ? ' c-xlarge' : ''}`}>
      {subtitle !== undefined && (
        <div class="muted" dir="auto">
          {view.draw(subtitle)}
        </div>
      )}
      {view.draw(children)}
      <div class="row c-submit">
        {isElement(submit) && submit.type === 'button' && (
          <ControlButton given={{ style: 'primary', ...submit }} view={view} />
        )}
        {view.close && (
          <button type="button" class="plain" onClick={view.close}>
            {texts.close}
          </button>
        )}
      </div>
    </div>
  )
}

export const modalOf = (tree: unknown): Element | undefined =>
  isElement(tree) && tree.type === 'modal' ? tree : undefined

/** What the component below a modal gets when a person closes it. */
export const returnValueOf = (shown: { tree: unknown; state: Fields } | undefined): unknown =>
  shown && resolve(modalOf(shown.tree)?.returnValue, shown.state)
