import { me } from '../../state.ts'

/** What a person has typed into a page and not saved, and the version that they began with. */
export type Draft = { title: string; description: string; markdown: string; etag: string }

/** A draft outlives a reload and a crash of the tab. It ends with the tab: another person may use the browser next. */
const keyOf = (spaceId: string, pageId: string): string =>
  `annex.draft ${me.value?.account?.id} ${spaceId} ${pageId}`

export function readDraft(spaceId: string, pageId: string): Draft | undefined {
  const stored = sessionStorage.getItem(keyOf(spaceId, pageId))
  return stored === null ? undefined : JSON.parse(stored)
}

export function keepDraft(spaceId: string, pageId: string, draft: Draft): void {
  try {
    sessionStorage.setItem(keyOf(spaceId, pageId), JSON.stringify(draft))
  } catch {
    // The storage of a tab is full: the text is still in the page, which asks before it closes.
  }
}

export const dropDraft = (spaceId: string, pageId: string): void =>
  sessionStorage.removeItem(keyOf(spaceId, pageId))
