import { useEffect, useRef } from 'preact/hooks'
import { callbackPath, waitForDone } from '../openid.ts'
import { openid as texts } from '../texts/openid.ts'

/** Signs in at the provider in another tab: what was typed on this page stays. */
export function OpenidBeside({
  purpose,
  name,
  onDone,
}: {
  purpose: 'sign_in' | 'confirm'
  name: string
  onDone: () => void
}) {
  const latest = useRef(onDone)
  latest.current = onDone
  useEffect(() => waitForDone(() => latest.current()), [])
  return (
    <>
      {/* A tab with an opener may close itself. The provider gets none: see Cross-Origin-Opener-Policy. */}
      <a
        class="button main wide"
        href={`${callbackPath}?begin=${purpose}`}
        target="_blank"
        rel="noopener opener"
      >
        {(purpose === 'confirm' ? texts.confirm : texts.signIn)(name)}
      </a>
      <p class="muted small">{texts.waits(name)}</p>
    </>
  )
}
