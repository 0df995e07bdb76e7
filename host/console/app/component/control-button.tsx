import { ScriptIcon } from './script-icon.tsx'
import { type Fields, toText } from './tree.ts'
import { isAction, type View } from './view.ts'

const kinds: Readonly<Record<string, string>> = { primary: 'main', danger: 'bad', secondary: '' }

/** A button of a script: of the element `button`, of a block's controls. */
export function ControlButton({ given, view, kind }: { given: Fields; view: View; kind?: string }) {
  const { label, onPress, icon, trailingIcon, tooltip, confirm, disabled, style } = given
  const text = toText(label)
  const name = text ?? toText(tooltip) ?? toText(icon) ?? (isAction(onPress) ? onPress.action : '')
  const known = typeof style === 'string' && Object.hasOwn(kinds, style) ? kinds[style] : ''
  return (
    <button
      type="button"
      class={kind ?? known}
      disabled={disabled === true}
      title={toText(tooltip)}
      aria-label={text === undefined ? name : undefined}
      onClick={() => view.press(onPress, confirm)}
    >
      <ScriptIcon icon={icon} view={view} />
      {text !== undefined && <span dir="auto">{text}</span>}
      {text === undefined && icon === undefined && <span dir="auto">{name}</span>}
      <ScriptIcon icon={trailingIcon} view={view} />
    </button>
  )
}
