import { ControlButton } from './control-button.tsx'
import { isFields } from './tree.ts'
import type { Draw } from './view.ts'

/** A value of a list of names, or its first one. */
const oneOf = (value: unknown, names: readonly string[]): string =>
  names.find((name) => name === value) ?? names[0] ?? ''

export const Block = ({ element, view }: Draw) => (
  <div class="c-stack">
    <Controls controls={element.controls} view={view} />
    {view.draw(element.children)}
  </div>
)

/** Controls of a block. A list within the list is a group. */
function Controls({ controls, view }: { controls: unknown; view: Draw['view'] }) {
  const all = Array.isArray(controls) ? controls.flat().filter(isFields) : []
  if (all.length === 0) return null
  return (
    <div class="c-controls">
      {all.map((control, index) => (
        <ControlButton key={index} given={control} kind="plain" view={view} />
      ))}
    </div>
  )
}

export const Configuration = ({ element, view }: Draw) => (
  <div class="c-stack c-configuration">{view.draw(element.children)}</div>
)

const aligns = ['start', 'center', 'end'] as const

export const VStack = ({ element, view }: Draw) => (
  <div class={`c-stack${element.align === undefined ? '' : ` c-align-${oneOf(element.align, aligns)}`}`}>
    {view.draw(element.children)}
  </div>
)

export const HStack = ({ element, view }: Draw) => (
  <div class={`c-row c-align-${oneOf(element.align ?? 'center', aligns)}`}>{view.draw(element.children)}</div>
)

/** It takes the room that others leave with any `grow` above 0. */
export const Box = ({ element, view }: Draw) => {
  const style = oneOf(element.style, ['default', 'card', 'secondary'])
  const grows = typeof element.grow === 'number' && element.grow > 0
  return <div class={`c-box c-box-${style}${grows ? ' c-grow' : ''}`}>{view.draw(element.children)}</div>
}

export const Spacer = () => <div class="c-spacer" />

export const Divider = ({ element }: Draw) => {
  const size = oneOf(element.size, ['medium', 'small', 'large'])
  return element.style === 'line' ? (
    <hr class={`c-line c-line-${size}`} />
  ) : (
    <div class={`c-gap c-line-${size}`} />
  )
}
