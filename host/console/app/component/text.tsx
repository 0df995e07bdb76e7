import { OutsideLink } from '../parts/outside-link.tsx'
import { componentTexts as texts } from '../texts/component.ts'
import { resolve, toUrl } from './bindings.ts'
import { isFields, toText } from './tree.ts'
import type { Draw } from './view.ts'

/** A text of scripts may have references to the state among its children. */
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

export const Link = ({ element, view }: Draw) => {
  const { target, children } = element
  const url = toUrl(isFields(target) ? target.url : target, view.state)
  const drawn = view.draw(children)
  return url === undefined ? <>{drawn}</> : <OutsideLink href={url.href}>{drawn}</OutsideLink>
}

/** The policy of the page lets no picture of another host in: it is a link, so a person decides who learns of the visit. */
export const Image = ({ element, view }: Draw) => {
  const { source } = element
  const url = toUrl(isFields(source) ? source.url : undefined, view.state)
  if (url === undefined) return null
  return <OutsideLink href={url.href}>{texts.picture(url.host)}</OutsideLink>
}

export const MarkdownText = ({ element, view }: Draw) => (
  <div class="c-markdown" dir="auto">
    {toText(resolve(element.content, view.state))}
  </div>
)
