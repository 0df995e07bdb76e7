import { ControlButton } from './control-button.tsx'
import { ScriptIcon } from './script-icon.tsx'
import { isFields, toText } from './tree.ts'
import { type Draw, isAction } from './view.ts'

/** The title of a card with `onPress` is a button: the card may have buttons of its own, which none may lie within another. */
export const Card = ({ element, view }: Draw) => {
  const { icon, hint, onPress, buttons, children } = element
  const title = toText(element.title)
  return (
    <div class="c-card">
      <div class="c-card-head">
        <ScriptIcon icon={icon} view={view} />
        <div class="c-card-title" dir="auto">
          {isAction(onPress) ? (
            <button type="button" class="c-card-press" onClick={() => view.press(onPress)}>
              {title ?? onPress.action}
            </button>
          ) : (
            title !== undefined && <strong>{title}</strong>
          )}
          {hint !== undefined && <div class="muted small">{view.draw(hint)}</div>}
        </div>
        <Buttons buttons={buttons} view={view} />
      </div>
      {Array.isArray(children) && children.length > 0 && <div class="c-stack">{view.draw(children)}</div>}
    </div>
  )
}

/** Buttons of a card, a frame or a block of code: elements, or their properties alone. */
export function Buttons({ buttons, view }: { buttons: unknown; view: Draw['view'] }) {
  const all = Array.isArray(buttons) ? buttons.flat(3).filter(isFields) : []
  if (all.length === 0) return null
  return (
    <div class="c-buttons">
      {all.map((button, index) =>
        button.type === undefined || button.type === 'button' ? (
          <ControlButton key={index} given={button} view={view} />
        ) : (
          view.draw(button)
        ),
      )}
    </div>
  )
}

const hints: Readonly<Record<string, string>> = {
  info: '',
  success: 'good',
  warning: 'warning',
  danger: 'bad',
  error: 'bad',
}

/** A remark in the color of its style. The style of an unknown name has no color. */
export const Hint = ({ element, view }: Draw) => {
  const { style } = element
  const kind = typeof style === 'string' && Object.hasOwn(hints, style) ? hints[style] : 'c-hint'
  return (
    <div class={`note ${kind}`} dir="auto">
      <div>{view.draw(element.children)}</div>
    </div>
  )
}
