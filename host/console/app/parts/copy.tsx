import { useState } from 'preact/hooks'
import { texts } from '../texts.ts'
import { Icon } from './icon.tsx'

export function CopyButton({
  text,
  label,
  isLabelled = false,
  kind = isLabelled ? 'main' : 'plain',
}: {
  text: string
  label: string
  /** The label is seen, and not only read out. */
  isLabelled?: boolean
  kind?: '' | 'main' | 'plain'
}) {
  const [isCopied, setIsCopied] = useState(false)
  const copy = async () => {
    await copyText(text)
    setIsCopied(true)
    setTimeout(() => setIsCopied(false), 2_000)
  }
  return (
    <button
      type="button"
      class={kind}
      onClick={copy}
      aria-label={isCopied ? texts.copied : label}
      title={label}
    >
      <Icon name={isCopied ? 'check' : 'copy'} />
      {isLabelled && (isCopied ? texts.copied : label)}
    </button>
  )
}

/** The clipboard of the web is missing on http to another machine: there a selected field is copied. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  const parent = document.querySelector('dialog[open]') ?? document.body
  parent.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
}

/** An id, shortened in the middle. */
export const shorten = (id: string): string => (id.length > 20 ? `${id.slice(0, 10)}…${id.slice(-6)}` : id)

/** Shortened, and copied whole. */
export function Id({ value }: { value: string }) {
  return (
    <span class="id">
      <code title={value}>{shorten(value)}</code>
      <CopyButton text={value} label={texts.copy(value)} />
    </span>
  )
}
