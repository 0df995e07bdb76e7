import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Context } from 'koa'

/** HTML of this folder, with escaped texts. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Html | readonly Html[]

/** A template of HTML: each part is escaped unless it is HTML itself. */
export function html(texts: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(texts.reduce((all, text, index) => all + escapePart(parts[index - 1] ?? '') + text))
}

function escapePart(part: Part): string {
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(({ text }) => text).join('')
  return String(part).replace(/[&<>"']/g, (character) => escapes[character] ?? '')
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const style = readFileSync(new URL('page.css', import.meta.url), 'utf8')
const styleHash = createHash('sha256').update(style).digest('base64')
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%234338ca'/%3E%3Cpath d='M9 22V10h6v12m2 0v-7h6v7' stroke='%23fff' stroke-width='2.5' fill='none'/%3E%3C/svg%3E"

/** What a page may do with a form. Browsers check `form-action` for each redirect after a form, too. */
type FormAction = "'none'" | "'self' http: https:"

export type Page = {
  title: string
  main: Html
  formAction?: FormAction
  /** Default: `no-referrer`. */
  referrerPolicy?: 'same-origin'
}

/** Sends a page that runs no script, loads only its own style, and that no other page may frame. */
export function sendPage(context: Context, { formAction = "'none'", referrerPolicy, ...page }: Page): void {
  context.set({
    'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`,
    'referrer-policy': referrerPolicy ?? 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  })
  context.type = 'html'
  context.body = toPage(page)
}

export function toPage({ title, main }: Pick<Page, 'title' | 'main'>): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${icon}">
<style>${new Html(style)}</style>
</head>
<body>
<header>
<h1><img src="${icon}" alt="" width="36" height="36">Annex</h1>
</header>
<main>
${main}
</main>
</body>
</html>
`.text
}
