import type { RefObject } from 'preact'
import { useState } from 'preact/hooks'
import type { Block } from '../../../../../schemas/generated/api/content.ts'
import { unfurlLink } from '../../component/render.ts'
import { messageOf } from '../../parts/error-note.tsx'
import { spaceTexts as texts } from '../../texts/space.ts'
import { findUnfurling, isOnOwnLine, standAlone, toBlockText } from './block-text.ts'

type Area = RefObject<HTMLTextAreaElement | null>

/** Blocks in a text area: inserted, or made of a pasted link. `said`: what became of the link. */
export function useBlocks(area: Area, blocks: readonly Block[]) {
  const [said, setSaid] = useState('')

  const insert = (block: Block) => {
    const { current } = area
    if (current === null) return
    const { value, selectionStart, selectionEnd } = current
    const written = toBlockText(block, {})
    const text = standAlone(value, selectionStart, selectionEnd, written)
    type(current, selectionStart, selectionEnd, text)
    const begin = selectionStart + text.indexOf(written)
    // Where the properties of the block go: before its end, or between its fences.
    const inside = written.startsWith('{%') ? written.length - 3 : written.indexOf('\n') + 1
    current.setSelectionRange(begin + inside, begin + inside)
  }

  /** The link is pasted as a text first. Its block takes its place once the script has answered, as a step of its own for undo. */
  const paste = async (event: ClipboardEvent) => {
    const { current } = area
    const link = event.clipboardData?.getData('text/plain').trim() ?? ''
    const block = findUnfurling(blocks, link)
    if (current === null || block === undefined) return
    const { value, selectionStart, selectionEnd } = current
    if (!isOnOwnLine(value, selectionStart, selectionEnd)) return
    event.preventDefault()
    type(current, selectionStart, selectionEnd, link)
    setSaid(texts.unfurl.asking(block.title))
    setSaid(await unfurl(current, selectionStart, link, block))
  }
  return { insert, paste, said }
}

/** @returns what became of the link */
async function unfurl(
  area: HTMLTextAreaElement,
  pastedAt: number,
  link: string,
  block: Block,
): Promise<string> {
  const { integration, installation, space, id, title } = block
  try {
    const of = { integration, installation, level: { space } }
    const context = { type: 'document', editable: true }
    const props = await unfurlLink(of, { componentId: id, url: link, context })
    const at = findAgain(area.value, link, pastedAt)
    if (Object.keys(props).length === 0 || at === undefined) return texts.unfurl.none(title)
    const { selectionStart, selectionEnd } = area
    const text = standAlone(area.value, at, at + link.length, toBlockText(block, props))
    type(area, at, at + link.length, text)
    const isBehind = selectionStart >= at + link.length
    const moved = isBehind ? text.length - link.length : 0
    area.setSelectionRange(selectionStart + moved, selectionEnd + moved)
    return texts.unfurl.done(title)
  } catch (error) {
    return texts.unfurl.failed(title, messageOf(error))
  }
}

/** The person may have typed meanwhile: the link is the one nearest to its old place. */
function findAgain(text: string, link: string, near: number): number | undefined {
  const before = text.lastIndexOf(link, near)
  const after = text.indexOf(link, near)
  const found = [before, after].filter((at) => at >= 0)
  const [at] = found.sort((a, b) => Math.abs(a - near) - Math.abs(b - near))
  return at !== undefined && isOnOwnLine(text, at, at + link.length) ? at : undefined
}

/** Types as a person does: undo takes it back. Browsers have no other way for it. */
function type(area: HTMLTextAreaElement, start: number, end: number, text: string): void {
  area.focus()
  area.setSelectionRange(start, end)
  if (document.execCommand('insertText', false, text)) return
  area.setRangeText(text, start, end, 'end')
  area.dispatchEvent(new Event('input', { bubbles: true }))
}
