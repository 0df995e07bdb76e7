import type { FunctionComponent, VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { sayDone } from '../state.ts'
import { navigationTexts } from '../texts/navigation.ts'
import { texts as general } from '../texts.ts'
import { Icon } from './icon.tsx'

const texts = navigationTexts.find
const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

/** The search of pages and records: opened by ctrl K or command K, and loaded then. */
export function useFind(org: string | undefined): { open: () => void; dialog: VNode | false | undefined } {
  const [Find, setFind] = useState<FunctionComponent<{ org: string; onClose: () => void }>>()
  const open = () =>
    void import('./find.tsx').then(
      (loaded) => setFind(() => loaded.default),
      () => sayDone(general.notLoaded),
    )
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isAsked = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
      if (!isAsked || event.key.toLowerCase() !== 'k') return
      event.preventDefault()
      // A dialog that is open has its own answer to give first.
      if (document.querySelector('dialog[open]') === null) open()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
  return { open, dialog: Find && org !== undefined && <Find org={org} onClose={() => setFind(undefined)} /> }
}

export const FindButton = ({ open }: { open: () => void }) => (
  <button type="button" class="find" aria-keyshortcuts="Control+K Meta+K" onClick={open}>
    <Icon name="search" />
    {texts.open}
    <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
  </button>
)
