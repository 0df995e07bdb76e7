import { useState } from 'preact/hooks'
import { toOwnPath } from '../own-path.ts'

/** The icon of an integration. Without one, or when it does not load, the first letter of its title. */
export function IntegrationIcon({ title, icon }: { title: string; icon: string | undefined }) {
  const [broken, setBroken] = useState<string>()
  const src = icon && toOwnPath(icon)
  if (src === undefined || src === '' || src === broken) {
    return (
      <span class="integration-icon letter" aria-hidden="true">
        {[...title.trim()][0]?.toUpperCase()}
      </span>
    )
  }
  return <img class="integration-icon" src={src} alt="" loading="lazy" onError={() => setBroken(src)} />
}
