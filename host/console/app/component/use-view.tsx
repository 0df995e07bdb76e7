import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Asked } from './ask-first.tsx'
import { resolve } from './bindings.ts'
import { Content } from './elements.tsx'
import { returnValueOf } from './modal.tsx'
import type { Action, ComponentLevel } from './render.ts'
import { isFields, isText } from './tree.ts'
import type { Given, Running } from './use-component.ts'
import { isAction, type View } from './view.ts'

/** A text is sent once its person pauses for so long. */
const pauseMs = 500

/** What the elements of a component may do, and what stands above them: a question, or a modal. */
export function useView(
  of: ComponentLevel,
  given: Given,
  component: Running,
  /** Of a modal: ends it. */
  onEnd?: (returnValue: unknown) => void,
) {
  const id = useId()
  const [asked, setAsked] = useState<Asked>()
  const [modal, setModal] = useState<Given>()
  const late = useRef<{ action: Action; timer: ReturnType<typeof setTimeout> }>(undefined)
  useLayoutEffect(() => () => clearTimeout(late.current?.timer), [])

  const flush = () => {
    const { current } = late
    if (current === undefined) return
    clearTimeout(current.timer)
    late.current = undefined
    perform(current.action)
  }

  /** Built-in actions are the page's own. Any other goes to the component. */
  function perform(unresolved: Action): void {
    const { state = {}, props = {} } = component.now() ?? {}
    const action = resolve(unresolved, state) as Action
    switch (action.action) {
      case '@ui.url.open':
        return setAsked({ kind: 'url', url: action.url })
      case '@ui.modal.open':
        if (!isText(action.componentId)) return
        return setModal({ ...given, componentId: action.componentId, props: fieldsOf(action.props) })
      case '@ui.modal.close':
        return onEnd?.(action.returnValue)
      case '@editor.node.updateProps':
        return component.update({ ...props, ...fieldsOf(action.props) })
      case '@webframe.ready':
      case '@webframe.resize':
        return
      default:
        return component.act(action)
    }
  }

  const run = (action: unknown) => {
    flush()
    if (isAction(action)) perform(action)
  }

  const askFirst = (confirm: unknown, act: () => void) =>
    isFields(confirm) ? setAsked({ kind: 'confirm', confirm, act }) : act()

  const view: View = {
    id,
    of,
    state: component.shown?.state ?? {},
    pictures: component.shown?.pictures ?? {},
    draw: (content, field) => <Content content={content} view={{ ...view, field }} />,
    press: (action, confirm) => askFirst(confirm, () => run(action)),
    choose: ({ state, confirm, onValueChange }, value) => {
      if (!isText(state)) return
      askFirst(confirm, () => {
        component.set({ [state]: value })
        run(onValueChange)
      })
    },
    type: ({ state }, value, action) => {
      if (!isText(state)) return
      component.set({ [state]: value })
      if (!isAction(action)) return
      clearTimeout(late.current?.timer)
      late.current = { action, timer: setTimeout(flush, pauseMs) }
    },
    flush,
    close: onEnd && (() => onEnd(returnValueOf(component.now()))),
    note: (kind) => component.note({ kind }),
  }
  return { view, asked, modal, setAsked, setModal }
}

const fieldsOf = (value: unknown) => (isFields(value) ? value : {})
