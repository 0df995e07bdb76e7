import { useId, useRef, useState } from 'preact/hooks'
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
  const [isChoosing, setIsChoosing] = useState(false)
  const { insert, paste, said } = useBlocks(area, blocks)
  const press = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return
    // On some keyboards the slash is above the 7.
    const isSlash = event.key === '/' || event.code === 'Slash' || event.code === 'NumpadDivide'
    if (isSlash) setIsChoosing(true)
    else if (event.key.toLowerCase() === 's' && !event.shiftKey) onSave()
    else return
    event.preventDefault()
  }
  return (
    <div class="field">
      <div class="row apart">
        <label for={id}>{texts.text}</label>
        <button
          type="button"
          class="plain"
          aria-keyshortcuts="Control+/ Meta+/"
          onClick={() => setIsChoosing(true)}
        >
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
        onInput={(event) => onValue(event.currentTarget.value)}
        onKeyDown={press}
        onPaste={paste}
      />
      <span class="hint" id={`${id}-hint`}>
        {texts.textHint}
      </span>
      <span class="hint" role="status">
        {said}
      </span>
      {isChoosing && (
        <Palette
          {...{ blocks, org }}
          onClose={() => {
            setIsChoosing(false)
            area.current?.focus()
          }}
          onChoose={(block) => {
            setIsChoosing(false)
            // The dialog gives the focus back when it has closed.
            setTimeout(() => insert(block))
          }}
        />
      )}
    </div>
  )
}
