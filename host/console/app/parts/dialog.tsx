import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

/** The browser's own dialog: it keeps the focus inside, and Escape closes it. */
export function Dialog({
  title,
  children,
  isWide,
  onClose,
}: {
  title: string
  children: ComponentChildren
  isWide?: boolean
  /** Without it Escape does not close the dialog. */
  onClose?: (() => void) | undefined
}) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before the next key: a person who types ahead types into the dialog.
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={element}
      class={isWide ? 'wide-dialog' : ''}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
    >
      <div class="inside">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}
