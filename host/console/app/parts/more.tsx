import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { texts } from '../texts.ts'

/** Actions behind `…`. A press elsewhere, and Escape, close it. */
export function More({ children }: { children: ComponentChildren }) {
  const element = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const close = (event: Event) => {
      const { current } = element
      if (current === null || !current.open) return
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : !current.contains(event.target as Node)) {
        current.open = false
      }
    }
    document.addEventListener('pointerdown', close)
    document.addEventListener('keydown', close)
    return () => {
      document.removeEventListener('pointerdown', close)
      document.removeEventListener('keydown', close)
    }
  }, [])
  return (
    <details class="more" ref={element}>
      <summary aria-label={texts.more} title={texts.more}>
        …
      </summary>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: a press of a button in it bubbles */}
      <div class="more-list" onClick={() => element.current?.removeAttribute('open')}>
        {children}
      </div>
    </details>
  )
}
