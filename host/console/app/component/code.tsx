import { componentTexts as texts } from '../texts/component.ts'
import { resolve } from './bindings.ts'
import { Buttons } from './card.tsx'
import { isText, ownValue, toText } from './tree.ts'
import type { Draw } from './view.ts'

/** Code: a field where it has a `state`, else a text. */
export function CodeBlock({ element, view }: Draw) {
  const { state, onContentChange, buttons, header, footer, syntax, lineNumbers } = element
  const own = isText(state) ? ownValue(view.state, state) : undefined
  const content = toText(own ?? resolve(element.content, view.state)) ?? ''
  const label = toText(syntax) ?? texts.code
  return (
    <div class="c-code">
      {header !== undefined && <div class="c-code-edge">{view.draw(header)}</div>}
      {isText(state) ? (
        <textarea
          class="mono"
          rows={Math.min(Math.max(content.split('\n').length + 1, 4), 24)}
          spellcheck={false}
          aria-label={label}
          value={content}
          onInput={(event) => view.type(element, event.currentTarget.value, onContentChange)}
          onChange={view.flush}
        />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: long code scrolls, and the keyboard scrolls what has the focus
        <section class="c-code-text" tabIndex={0} aria-label={label}>
          <pre>
            <code>{numbered(content, lineNumbers)}</code>
          </pre>
        </section>
      )}
      <Buttons buttons={buttons} view={view} />
      {footer !== undefined && <div class="c-code-edge">{view.draw(footer)}</div>}
    </div>
  )
}

/** Numbers in front of the lines, from 1 or the given one. */
function numbered(content: string, lineNumbers: unknown) {
  if (lineNumbers !== true && typeof lineNumbers !== 'number') return content
  const first = lineNumbers === true ? 1 : lineNumbers
  const lines = content.split('\n').slice(0, 5_000)
  const width = String(first + lines.length - 1).length
  return lines.map((line, index) => (
    <span key={index}>
      <span class="c-number" aria-hidden="true">
        {String(first + index).padStart(width)}{' '}
      </span>
      {`${line}\n`}
    </span>
  ))
}
