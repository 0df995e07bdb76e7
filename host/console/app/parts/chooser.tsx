import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'

/** A field above a list: typing filters, arrows choose, enter takes. The field keeps the focus. */
export function Chooser<Item>({
  label,
  listLabel,
  words,
  onWords,
  items,
  keyOf,
  onChoose,
  children,
}: {
  label: string
  listLabel: string
  words: string
  onWords: (words: string) => void
  /** Those that match the words. */
  items: readonly Item[]
  keyOf: (item: Item) => string
  onChoose: (item: Item) => void
  children: (item: Item) => ComponentChildren
}) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const [chosen, setChosen] = useState(0)
  const at = Math.min(chosen, items.length - 1)
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const press = (event: KeyboardEvent) => {
    if (event.isComposing) return
    const to = moves[event.key]?.(at, items.length)
    if (to !== undefined) setChosen(to)
    else if (event.key === 'Enter') {
      const item = items[at]
      if (item !== undefined) onChoose(item)
    } else return
    event.preventDefault()
  }
  return (
    <>
      <input
        type="text"
        role="combobox"
        aria-label={label}
        placeholder={label}
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={items.length > 0 ? `${id}-${at}` : undefined}
        aria-autocomplete="list"
        autocomplete="off"
        value={words}
        onInput={(event) => {
          onWords(event.currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={press}
      />
      <div class="palette" role="listbox" id={`${id}-list`} aria-label={listLabel} ref={list}>
        {items.map((item, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
          <div
            key={keyOf(item)}
            role="option"
            id={`${id}-${index}`}
            aria-selected={index === at}
            onClick={() => onChoose(item)}
          >
            {children(item)}
          </div>
        ))}
      </div>
    </>
  )
}

const moves: Readonly<Record<string, ((at: number, count: number) => number) | undefined>> = {
  ArrowDown: (at, count) => (at + 1) % Math.max(count, 1),
  ArrowUp: (at, count) => (at + count - 1) % Math.max(count, 1),
}

/** True for a text with each of the words, in any case. */
export function hasWords(text: string, words: string): boolean {
  const lower = text.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word))
}
