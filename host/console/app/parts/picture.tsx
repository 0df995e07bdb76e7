import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/** A picture that Annex has. `instead` stands for one that cannot be shown. */
export function Picture({
  src,
  alt = '',
  kind,
  ratio,
  instead,
}: {
  src: string | undefined
  alt?: string | undefined
  kind: string
  ratio?: string
  instead: ComponentChildren
}) {
  const [broken, setBroken] = useState<string>()
  if (src === undefined || src === broken) return <>{instead}</>
  return (
    <img
      class={kind}
      src={src}
      alt={alt}
      // Preact sets the property by itself, which the policy of the page allows.
      style={{ aspectRatio: ratio ?? '' }}
      loading="lazy"
      onError={() => setBroken(src)}
    />
  )
}
