import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { componentTexts as texts } from '../texts/component.ts'
import { resolve, toOwnUrl, toUrl } from './bindings.ts'
import { Buttons } from './card.tsx'
import { createRate, type FrameSize, readMessage } from './frame-messages.ts'
import { isFields } from './tree.ts'
import type { Draw } from './view.ts'

const always = 'allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox'

/**
 * A page of a script, or of another service, in a frame. It gets the values of `data`, and sends actions.
 *
 * Attack: with the URL origin of Annex, a frame would have the power of the console. So a frame of this origin gets an origin
 * of its own. Pages of endpoints are sandboxed by their answers, too: a frame of another origin may lead there.
 */
export function Frame({ element, view }: Draw) {
  const { source, data, buttons, aspectRatio } = element
  const frame = useRef<HTMLIFrameElement>(null)
  const [size, setSize] = useState<FrameSize>({})
  const given = toUrl(isFields(source) ? source.url : undefined, view.state)
  const url = given && (toOwnUrl(given, view.of) ?? given)
  const isOwn = url?.origin === location.origin
  // Other pages of Annex refuse to be in a frame.
  const isShown = isOwn ? url.pathname.startsWith('/x/') : url?.protocol === 'https:'
  const latest = useRef(view)
  latest.current = view

  const state = JSON.stringify(resolve(isFields(data) ? data : {}, view.state))
  const post = () =>
    // An origin of its own has no name. Another page in this frame gets nothing that is meant for the first.
    frame.current?.contentWindow?.postMessage(
      { state: JSON.parse(state) },
      isOwn ? '*' : (url?.origin ?? '*'),
    )
  const posting = useRef(post)
  posting.current = post
  const [isReady, setIsReady] = useState(false)
  useLayoutEffect(() => {
    if (isReady) posting.current()
  }, [state, isReady])

  useLayoutEffect(() => {
    const mayAct = createRate(30, 10_000)
    const onMessage = ({ source: from, data: posted }: MessageEvent) => {
      // Other frames and windows may post, too.
      if (from === null || from !== frame.current?.contentWindow) return
      const message = readMessage(posted)
      if (message?.kind === 'ready') {
        setIsReady(true)
        posting.current()
      } else if (message?.kind === 'resize') setSize(message.size)
      else if (message?.kind === 'action') {
        if (mayAct()) latest.current.press(message.action)
        else latest.current.note('too-fast')
      }
    }
    addEventListener('message', onMessage)
    return () => removeEventListener('message', onMessage)
  }, [])

  if (url === undefined || !isShown) return <p class="muted small">{texts.noFrame}</p>
  return (
    <div class="c-stack">
      <iframe
        ref={frame}
        class="c-frame"
        src={url.href}
        title={texts.outside(url.host)}
        sandbox={isOwn ? always : `${always} allow-same-origin`}
        allow="fullscreen"
        referrerpolicy="no-referrer"
        loading="lazy"
        style={toStyle(size, aspectRatio)}
      />
      <Buttons buttons={buttons} view={view} />
    </div>
  )
}

/** Numbers alone: Preact sets each property by itself, which the policy of the page allows. */
function toStyle(size: FrameSize, given: unknown): Record<string, string> {
  const fromElement = typeof given === 'number' && given > 0.05 && given < 20 ? given : undefined
  const { height, maxHeight, maxWidth, aspectRatio = fromElement } = size
  return {
    height: height === undefined ? '' : `${height}px`,
    aspectRatio: height === undefined ? String(aspectRatio ?? 16 / 9) : '',
    maxHeight: maxHeight === undefined ? '' : `${maxHeight}px`,
    maxWidth: maxWidth === undefined ? '' : `${maxWidth}px`,
  }
}
