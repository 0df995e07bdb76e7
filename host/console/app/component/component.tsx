import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Boundary } from '../parts/boundary.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Loading } from '../parts/state.tsx'
import { reasonAgainst } from '../person.ts'
import { componentTexts as texts } from '../texts/component.ts'
import { texts as general } from '../texts.ts'
import { AskFirst } from './ask-first.tsx'
import { isKnown } from './elements.tsx'
import { modalOf, returnValueOf } from './modal.tsx'
import { Notes } from './notes.tsx'
import { type ComponentLevel, renderOperation } from './render.ts'
import { type Fields, toText } from './tree.ts'
import { type Given, type Running, useComponent } from './use-component.ts'
import { useView } from './use-view.tsx'

export type ComponentProps = ComponentLevel & {
  componentId: string
  props?: Fields | undefined
  /** The place where it is shown, such as `type` and `editable`. */
  context?: Fields | undefined
  /** A block that stores its properties gets the new ones. */
  onProps?: ((props: Fields) => void) | undefined
  /** The component has ended with a value. It is rendered anew. */
  onComplete?: ((value: unknown) => void) | undefined
  /** The script has run an action: what it stores may be another. */
  onAction?: (() => void) | undefined
  /** Shown below the error, or while the script has not answered yet. */
  instead?: ((error: unknown) => ComponentChildren) | undefined
}

/** A component of a script: its element tree, its state and its actions. What fails in it does not reach the page around. */
export function ComponentView(asked: ComponentProps) {
  const { integration, installation, level, ofPage, componentId, props = {}, context } = asked
  const { onProps, onComplete, onAction, instead } = asked
  const reason = ofPage === undefined ? reasonAgainst(renderOperation) : undefined
  if (reason !== undefined) return <p class="muted">{reason}</p>
  const theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  const of = { integration, installation, level, ofPage }
  const given = { componentId, props, context: { theme, ...context } }
  return (
    <Boundary>
      <InPage {...{ of, given, onProps, onComplete, onAction, instead }} />
    </Boundary>
  )
}

type Shown = { of: ComponentLevel; given: Given } & Pick<
  ComponentProps,
  'onProps' | 'onComplete' | 'onAction' | 'instead'
>

function InPage({ of, given, onProps, onComplete, onAction, instead }: Shown) {
  const component = useComponent(of, given, isKnown, {
    onProps,
    onAction,
    onComplete: (value) => {
      onComplete?.(value)
      component.restart()
    },
  })
  return <Body {...{ of, given, component, onAction, instead }} />
}

/** A component in a dialog. The one below it gets the return value with the action `@ui.modal.close`. */
function InDialog({
  of,
  given,
  onProps,
  onAction,
  onEnd,
}: Shown & { onEnd: (returnValue: unknown) => void }) {
  const component = useComponent(of, given, isKnown, { onProps, onAction, onComplete: onEnd })
  const { shown } = component
  const modal = modalOf(shown?.tree)
  const close = () => onEnd(returnValueOf(shown))
  return (
    <Dialog
      title={toText(modal?.title) ?? texts.dialog}
      isWide={modal?.size === 'fullscreen'}
      onClose={close}
    >
      <Body {...{ of, given, component, onAction, onEnd }} />
      {modal === undefined && (
        <div class="row">
          <button type="button" class="plain" onClick={close}>
            {texts.close}
          </button>
        </div>
      )}
    </Dialog>
  )
}

function Body({
  of,
  given,
  component,
  onAction,
  instead,
  onEnd,
}: Shown & { component: Running; onEnd?: (returnValue: unknown) => void }) {
  const { shown, error, failed, isBusy, retry } = component
  const { view, asked, modal, setAsked, setModal } = useView(of, given, component, onEnd)
  const what = failed === undefined ? texts.failed : texts.actionFailed
  return (
    <div class="component" aria-busy={isBusy}>
      {shown === undefined && error === undefined && <Loading />}
      {shown !== undefined && (
        <>
          {view.draw(shown.tree)}
          <Notes notes={shown.notes} />
        </>
      )}
      {error !== undefined && <Failed {...{ error, retry, failed }} what={what(given.componentId)} />}
      {shown === undefined && instead?.(error)}
      {asked && <AskFirst asked={asked} close={() => setAsked(undefined)} />}
      {modal && (
        <InDialog
          of={of}
          given={modal}
          onAction={onAction}
          onProps={(props) => component.update({ ...component.now()?.props, ...props })}
          onEnd={(returnValue) => {
            setModal(undefined)
            component.act({ action: '@ui.modal.close', returnValue: returnValue ?? {} })
          }}
        />
      )}
    </div>
  )
}

/** Below the component, where most buttons are: a person who pressed one sees it come. A page that is read does not move. */
function Failed({
  error,
  failed,
  what,
  retry,
}: Pick<Running, 'error' | 'failed' | 'retry'> & { what: string }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (failed !== undefined) place.current?.scrollIntoView({ block: 'nearest' })
  }, [error])
  return (
    <div ref={place}>
      <ErrorNote error={error} what={what} next={{ label: general.tryAgain, act: retry }} />
    </div>
  )
}
