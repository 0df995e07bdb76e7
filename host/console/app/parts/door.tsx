import type { ComponentChildren } from 'preact'
import { texts } from '../texts.ts'
import { Boundary } from './boundary.tsx'
import { Mark } from './icon.tsx'

/** The frame of pages before a person is signed in: one card. */
export const Door = ({ children }: { children: ComponentChildren }) => (
  <div class="door">
    <header>
      <a class="brand" href="/">
        <Mark />
        {texts.annex}
      </a>
    </header>
    <main>
      <Boundary>{children}</Boundary>
    </main>
    <footer class="muted small">{location.host}</footer>
  </div>
)
