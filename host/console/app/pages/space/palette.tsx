import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Block } from '../../../../../schemas/generated/api/content.ts'
import { Cancel } from '../../parts/cancel.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { IntegrationIcon } from '../../parts/integration-icon.tsx'
import { spaceTexts as texts } from '../../texts/space.ts'

/** The blocks of what is installed in the space: typing filters, arrows choose, enter inserts, escape closes. */
export function Palette({
  blocks,
  org,
  onChoose,
  onClose,
}: {
  blocks: readonly Block[]
  org: string
  onChoose: (block: Block) => void
  onClose: () => void
}) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const [words, setWords] = useState('')
  const [chosen, setChosen] = useState(0)
  const found = filterBlocks(blocks, words)
  const at = Math.min(chosen, found.length - 1)
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const press = (event: KeyboardEvent) => {
    if (event.isComposing) return
    const to = moves[event.key]?.(at, found.length)
    if (to !== undefined) setChosen(to)
    else if (event.key === 'Enter') {
      const block = found[at]
      if (block !== undefined) onChoose(block)
    } else return
    event.preventDefault()
  }
  if (blocks.length === 0) {
    return (
      <Dialog title={texts.palette.title} onClose={onClose}>
        <p>{texts.palette.nothing}</p>
        <div class="row">
          <Cancel act={onClose} />
          <a href={`/orgs/${org}/integrations`}>{texts.palette.toIntegrations}</a>
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title={texts.palette.title} onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label={texts.palette.search}
        placeholder={texts.palette.search}
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length > 0 ? `${id}-${at}` : undefined}
        aria-autocomplete="list"
        autocomplete="off"
        value={words}
        onInput={(event) => {
          setWords(event.currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={press}
      />
      <div class="palette" role="listbox" id={`${id}-list`} aria-label={texts.palette.options} ref={list}>
        {found.map((block, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
          <div
            key={`${block.installation} ${block.id}`}
            role="option"
            id={`${id}-${index}`}
            aria-selected={index === at}
            onClick={() => onChoose(block)}
          >
            <IntegrationIcon title={block.title} icon={block.icon} />
            <span dir="auto">
              <strong>{block.title}</strong>
              <span class="muted small">
                {[block.integrationTitle, block.description].filter(Boolean).join(' · ')}
              </span>
            </span>
          </div>
        ))}
      </div>
      <p class="muted small" role="status">
        {found.length === 0
          ? texts.palette.none
          : `${texts.palette.found(found.length)}. ${texts.palette.hint}`}
      </p>
    </Dialog>
  )
}

const moves: Readonly<Record<string, ((at: number, count: number) => number) | undefined>> = {
  ArrowDown: (at, count) => (at + 1) % Math.max(count, 1),
  ArrowUp: (at, count) => (at + count - 1) % Math.max(count, 1),
}

/** Each word is in the title, the description or the name of the integration. */
function filterBlocks(blocks: readonly Block[], words: string): Block[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  return blocks.filter(({ id, title, description = '', integration, integrationTitle }) => {
    const text = [id, title, description, integration, integrationTitle].join(' ').toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
}
