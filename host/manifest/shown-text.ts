import { toVisible } from './message-text.ts'

// People choose an integration by its texts. A text without a visible character is a blank line in a list. Characters that turn
// the direction, or that nothing shows, make one title the twin of another one.

/** Characters that neither show nor join. Joiners, marks of direction and soft hyphens stay: languages need them. */
const hidden =
  /[[\p{Cc}--[\t\n\r]]\p{Cs}\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/v

const visible = /[[\p{L}\p{N}\p{P}\p{S}]--[\p{Default_Ignorable_Code_Point}\u2800]]/v

/** Flags of regions, as that of Scotland, have hidden characters. */
const flags = /\p{RGI_Emoji_Tag_Sequence}/gv

/** Why people cannot read a text. An empty text is no error here. */
export function whyUnreadable(text: string): string | undefined {
  if (text === '') return undefined
  if (!visible.test(text)) return 'has no visible character'
  const found = hidden.exec(text.replace(flags, ''))
  return found === null ? undefined : `has a character that is not visible: ${toVisible(found[0])}`
}

export const isReadable = (text: string): boolean => whyUnreadable(text) === undefined
