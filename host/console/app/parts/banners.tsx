import { useEffect, useState } from 'preact/hooks'
import { hostState, isOutdated } from '../state.ts'
import { texts } from '../texts.ts'
import { Icon } from './icon.tsx'

const askAgainMs = 3_000
const newerMs = 5 * 60_000

/** What concerns the whole tab: the host does not answer, the connection can be read, or the tab is older than the host. */
export function Banners() {
  return (
    <>
      {hostState.value === 'silent' && <SilentHost />}
      <OlderTab />
      {!isSafe && (
        <div class="banner" role="note">
          <Icon name="warning" />
          {texts.readable}
        </div>
      )}
    </>
  )
}

/** The cookie of the session cannot be read on the way. */
const isSafe = isSecureContext || location.protocol === 'https:'

function SilentHost() {
  const [tries, setTries] = useState(0)
  useEffect(() => {
    const timer = setTimeout(async () => {
      const answer = await fetch('/healthz').catch(() => undefined)
      if (!answer?.ok) return setTries((n) => n + 1)
      hostState.value = 'answers'
      await readBuild()
    }, askAgainMs)
    return () => clearTimeout(timer)
  }, [tries])
  return (
    <div class="banner" role="alert">
      <Icon name="warning" />
      {texts.hostSilent}
    </div>
  )
}

function OlderTab() {
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && void readBuild(), newerMs)
    return () => clearInterval(timer)
  }, [])
  if (!isOutdated.value) return null
  return (
    <div class="banner" role="note">
      {texts.newerBuild}
      <button type="button" onClick={() => location.reload()}>
        {texts.reload}
      </button>
    </div>
  )
}

const ownBuild = document.documentElement.dataset.build

/** The ETag of the page names the host's build of the console. A proxy may have made it a weak one. */
async function readBuild(): Promise<void> {
  const answer = await fetch('/', { method: 'HEAD', cache: 'no-store' }).catch(() => undefined)
  const build = answer?.ok ? /"(.*)"/.exec(answer.headers.get('etag') ?? '')?.[1] : undefined
  if (build !== undefined && build !== ownBuild) isOutdated.value = true
}
