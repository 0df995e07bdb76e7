import { OutsideLink } from '../parts/outside-link.tsx'
import { componentTexts as texts } from '../texts/component.ts'
import { resolve, toOwnUrl, toUrl } from './bindings.ts'
import { isFields, isText } from './tree.ts'
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

/** A picture of an endpoint, or within the tree. A picture of another host would tell it who reads the page: it is a link. */
export const Image = ({ element, view }: Draw) => {
  const given = isFields(element.source) ? element.source.url : undefined
  const { aspectRatio } = element
  const address = toPicture(given, view)
  if (address !== undefined) {
    const ratio = typeof aspectRatio === 'number' && aspectRatio > 0 ? String(aspectRatio) : ''
    // Preact sets the property by itself, which the policy of the page allows.
    return <img class="c-picture" src={address} alt="" style={{ aspectRatio: ratio }} loading="lazy" />
  }
  const url = toUrl(given, view.state)
  return url === undefined ? null : <OutsideLink href={url.href}>{texts.picture(url.host)}</OutsideLink>
}

const dataPicture = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/

/** No other address of Annex: a page would ask there with the session of its person. */
function toPicture(given: unknown, { state, of }: View): string | undefined {
  const value = resolve(given, state)
  if (isText(value) && dataPicture.test(value)) return value
  const url = toUrl(value, state)
  return url && toOwnUrl(url, of)?.href
}
