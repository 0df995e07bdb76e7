import { useState } from 'preact/hooks'
import { componentTexts as texts } from '../texts/component.ts'
import { type Element, isElement, toText } from './tree.ts'
import { type Draw, isAction } from './view.ts'

/** One step at a time. The script may name the active step; a person goes on and back. */
export function Stepper({ element, view }: Draw) {
  const { activeStep, onStepChange, onComplete, children } = element
  const steps = (Array.isArray(children) ? children.flat(5) : [])
    .filter(isElement)
    .filter(({ type }) => type === 'step')
  const [chosen, setChosen] = useState<{ of: unknown; id: unknown }>()
  // The step that the script names comes first, until a person chooses another.
  const wanted = chosen?.of === activeStep ? chosen?.id : activeStep
  const index = Math.max(
    0,
    steps.findIndex(({ id }) => id === wanted),
  )
  const step: Element | undefined = steps[index]
  if (step === undefined) return null
  const go = (to: Element | undefined) => {
    if (to === undefined) return
    setChosen({ of: activeStep, id: to.id })
    if (isAction(onStepChange)) view.press({ ...onStepChange, step: to.id })
  }
  const isLast = index === steps.length - 1
  return (
    <div class="c-stack">
      <ol class="c-steps">
        {steps.map(({ id, title }, at) => (
          <li key={at} aria-current={at === index ? 'step' : undefined} class={at < index ? 'done' : ''}>
            <span class="c-step-number">{at + 1}</span> <span dir="auto">{toText(title) ?? toText(id)}</span>
          </li>
        ))}
      </ol>
      {view.draw(step)}
      <div class="row">
        {index > 0 && (
          <button type="button" onClick={() => go(steps[index - 1])}>
            {texts.back}
          </button>
        )}
        {!isLast && (
          <button
            type="button"
            class="main"
            disabled={step.next === false}
            onClick={() => go(steps[index + 1])}
          >
            {texts.next}
          </button>
        )}
        {isLast && isAction(onComplete) && (
          <button
            type="button"
            class="main"
            disabled={step.next === false}
            onClick={() => view.press(onComplete)}
          >
            {texts.finish}
          </button>
        )}
      </div>
    </div>
  )
}

export const Step = ({ element, view }: Draw) => <div class="c-stack">{view.draw(element.children)}</div>
