import { OutsideLink } from '../parts/outside-link.tsx'
import { Picture } from '../parts/picture.tsx'
import { componentTexts as texts } from '../texts/component.ts'
import { resolve, toOwnUrl, toUrl } from './bindings.ts'
import { type Fields, isFields, isText, ownValue } from './tree.ts'
import type { Draw, View } from './view.ts'

/** A text may have references to the state among its children. */
export const Text = ({ element, view }: Draw) => {
  const drawn = view.draw(resolve(element.children, view.state))
  switch (element.style) {
    case 'bold':
      return <strong dir="auto">{drawn}</strong>
    case 'italic':
      return <em dir="auto">{drawn}</em>
    case 'code':
      return <code dir="auto">{drawn}</code>
    case 'strikethrough':
      return <s dir="auto">{drawn}</s>
    default:
      return (
        <span class="c-text" dir="auto">
          {drawn}
        </span>
      )
  }
}

/** An address of data or of a script is no link: its text stays. */
export const Link = ({ element, view }: Draw) => {
  const { target, children } = element
  const url = toUrl(isFields(target) ? target.url : target, view.state)
  return <OutsideLink href={url?.href ?? ''}>{view.draw(children)}</OutsideLink>
}

/** A picture within the tree, of an endpoint, or of another host as Annex fetches it. Without one of these it is a link. */
export function Image({ element, view }: Draw) {
  const given = isFields(element.source) ? element.source.url : undefined
  const { aspectRatio } = element
  const url = toUrl(given, view.state)
  return (
    <Picture
      kind="c-picture"
      src={toPicture(given, view)}
      ratio={typeof aspectRatio === 'number' && aspectRatio > 0 ? String(aspectRatio) : ''}
      instead={url && <OutsideLink href={url.href}>{texts.picture(url.host)}</OutsideLink>}
    />
  )
}

const dataPicture = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/

/** No other address of Annex: a page would ask there with the session of its person. The browser asks no other host. */
function toPicture(given: unknown, { state, of, pictures }: View): string | undefined {
  const value = resolve(given, state)
  if (isText(value) && dataPicture.test(value)) return value
  const url = toUrl(value, state)
  if (url === undefined) return undefined
  const own = toOwnUrl(url, of)?.href
  if (own !== undefined || !isText(value)) return own
  return fetchedOf(pictures, value)
}

/** Where Annex has a picture of another host. */
export function fetchedOf(pictures: Fields, address: string): string | undefined {
  const fetched = ownValue(pictures, address)
  return isText(fetched) && fetched.startsWith('/v1/') ? fetched : undefined
}
