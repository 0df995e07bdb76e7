import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Block } from '../../../../../schemas/generated/api/content.ts'
import { spaceTexts as texts } from '../../texts/space.ts'
import { Palette } from './palette.tsx'
import { useBlocks } from './use-blocks.ts'

/** The Markdown of a page as a text, with the palette of blocks. */
export function MarkdownArea({
  value,
  onValue,
  onSave,
  blocks,
  org,
}: {
  value: string
  onValue: (value: string) => void
  onSave: () => void
  blocks: readonly Block[]
  org: string
}) {
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const [place, setPlace] = useState<Place>()
  const [left, setLeft] = useState<{ place: Place; block: Block | undefined }>()
  const { insert, paste, said } = useBlocks(area, blocks)
  const choose = () => setPlace(placeOf(area.current))
  const close = (block?: Block) => {
    setPlace(undefined)
    setLeft({ place: place ?? [0, 0], block })
  }
  // With the palette: the browser gives the focus back without the place in the text, and a person may type ahead.
  useLayoutEffect(() => {
    if (left === undefined) return
    area.current?.focus()
    area.current?.setSelectionRange(...left.place)
    if (left.block !== undefined) insert(left.block)
  }, [left])
  const press = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return
    // On some keyboards the slash is above the 7.
    const isSlash = event.key === '/' || event.code === 'Slash' || event.code === 'NumpadDivide'
    if (isSlash) choose()
    else if (event.key.toLowerCase() === 's' && !event.shiftKey) onSave()
    else return
    event.preventDefault()
  }
  return (
    <div class="field">
      <div class="row apart">
        <label for={id}>{texts.text}</label>
        <button type="button" class="plain" aria-keyshortcuts="Control+/ Meta+/" onClick={choose}>
          {texts.insert}
        </button>
      </div>
      <textarea
        id={id}
        ref={area}
        class="mono markdown-area"
        rows={20}
        dir="auto"
        value={value}
        aria-describedby={`${id}-hint`}
        onInput={(event) => {
          if (event.inputType === 'historyUndo') leaveLink(event.currentTarget)
          onValue(event.currentTarget.value)
        }}
        onKeyDown={press}
        onPaste={paste}
      />
      <span class="hint" id={`${id}-hint`}>
        {texts.textHint}
      </span>
      <span class="hint" role="status">
        {said}
      </span>
      {place && <Palette {...{ blocks, org }} onClose={() => close()} onChoose={close} />}
    </div>
  )
}

/** Where the palette was opened. */
type Place = [start: number, end: number]

const placeOf = (area: HTMLTextAreaElement | null): Place => [
  area?.selectionStart ?? 0,
  area?.selectionEnd ?? 0,
]

/** Undo selects the link that a block has replaced. The next key would replace it, too. */
function leaveLink(area: HTMLTextAreaElement): void {
  const { value, selectionStart, selectionEnd } = area
  if (/^https?:\/\/\S+$/i.test(value.slice(selectionStart, selectionEnd)))
    area.setSelectionRange(selectionEnd, selectionEnd)
}
