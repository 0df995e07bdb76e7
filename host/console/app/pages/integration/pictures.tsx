import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { toOwnPath } from '../../own-path.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { texts } from '../../texts.ts'

const words = texts.integration

/** Preview images, two by one. The one that is enlarged is in the address. */
export function Pictures({ addresses }: { addresses: readonly string[] }) {
  const { path, query, route } = useLocation()
  const [broken, setBroken] = useState<ReadonlySet<string>>(new Set())
  const pictures = addresses.flatMap((address) => toOwnPath(address) ?? []).filter((one) => !broken.has(one))
  if (pictures.length === 0) return null
  const shown = pictures[Number(query.picture) - 1]
  const show = (number: number | undefined, replace: boolean) => {
    const { picture: _, ...rest } = query
    const next = new URLSearchParams({ ...rest, ...(number !== undefined && { picture: String(number) }) })
    route(next.size === 0 ? path : `${path}?${next}`, replace)
  }
  return (
    <section aria-label={words.pictures}>
      <ul class="pictures">
        {pictures.map((src, index) => (
          <li key={src}>
            <button type="button" onClick={() => show(index + 1, false)}>
              <img
                src={src}
                alt={words.enlarge(index + 1, pictures.length)}
                loading={index === 0 ? 'eager' : 'lazy'}
                onError={() => setBroken(new Set([...broken, src]))}
              />
            </button>
          </li>
        ))}
      </ul>
      {shown !== undefined && (
        <Enlarged
          src={shown}
          number={pictures.indexOf(shown) + 1}
          count={pictures.length}
          onShow={(number) => show(number, true)}
          onClose={() => show(undefined, true)}
        />
      )}
    </section>
  )
}

function Enlarged({
  src,
  number,
  count,
  onShow,
  onClose,
}: {
  src: string
  number: number
  count: number
  onShow: (number: number) => void
  onClose: () => void
}) {
  const turn = (by: number) => onShow(((number - 1 + by + count) % count) + 1)
  const onKey = ({ key }: KeyboardEvent) => {
    if (key === 'ArrowLeft') turn(-1)
    if (key === 'ArrowRight') turn(1)
  }
  return (
    <Dialog title={words.picture(number, count)} isWide onClose={onClose}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: its buttons do the same; this is their short cut */}
      <div class="enlarged" onKeyDown={onKey}>
        <img src={src} alt={words.picture(number, count)} />
        <div class="row">
          {count > 1 && (
            <>
              <button type="button" onClick={() => turn(-1)} aria-label={words.previous}>
                <Icon name="back" />
              </button>
              <button type="button" onClick={() => turn(1)} aria-label={words.next}>
                <Icon name="forth" />
              </button>
            </>
          )}
          <button type="button" onClick={onClose}>
            {words.close}
          </button>
        </div>
      </div>
    </Dialog>
  )
}
