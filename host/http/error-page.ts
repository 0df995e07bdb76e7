import type { Context } from 'koa'
import { toVisible } from '../manifest/message-text.ts'
import { html, sendPage } from './page.ts'

type Shown = { code: string; message: string }

/**
 * True for an error that a person sees who connects an account: of a link, of a callback, and of a flow that is refused. A
 * browser asks for HTML first; a program gets JSON.
 */
export function isForBrowser(context: Context, code: string): boolean {
  const isInFlow =
    code === 'flow_refused' || context.state.isCallback === true || context.path.startsWith('/connect/')
  return isInFlow && context.accepts('json', 'html') === 'html'
}

export function sendErrorPage(context: Context, { code, message }: Shown): void {
  sendPage(context, {
    title: 'Not connected · Annex',
    main: html`<div class="card">
<h2>The account was not connected</h2>
<p><bdi>${toVisible(message)}</bdi></p>
<p class="muted"><code>${code}</code> <code>${context.state.requestId}</code></p>
</div>`,
  })
}
