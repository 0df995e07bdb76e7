import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IntegrationSummary } from '../db/queries/integrations.ts'
import type { Step } from './next-steps.ts'

/** The part of the page that operators see. */
export type HomeDetail = {
  url: string
  version: string
  /** The outermost level between a script and this machine. */
  level: string
  processes: number
  work: { queued: number; failed: number; paused: number }
  integrations: IntegrationSummary[]
  /** The number of integrations that `integrations` leaves out. */
  more: number
}

export type Home = { problems: string[]; steps: Step[]; detail: HomeDetail | undefined }

const style = readFileSync(new URL('home-page.css', import.meta.url), 'utf8')
const styleHash = createHash('sha256').update(style).digest('base64')
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%234f46e5'/%3E%3Cpath d='M9 22V10h6v12m2 0v-7h6v7' stroke='%23fff' stroke-width='2.5' fill='none'/%3E%3C/svg%3E"

/** The page runs no script, loads only its own style, and no other page may frame it. */
export const homePolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

export function toHomePage({ problems, steps, detail }: Home): string {
  const isReady = problems.length === 0
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Annex</title>
<link rel="icon" href="${icon}">
<style>${new Html(style)}</style>
</head>
<body>
<header>
<h1><img src="${icon}" alt="" width="36" height="36">Annex</h1>
<p class="state ${isReady ? 'good' : 'bad'}">${isReady ? 'Ready' : 'Not ready'}</p>
</header>
<main>
${problems.map((problem) => html`<p class="problem">${problem}</p>`)}
${detail === undefined ? html`<p class="lead">A self-hosted integration platform runs here.</p>` : toDetail(detail)}
<section>
<h2>Next steps</h2>
<ol>${steps.map(
    ({ title, text, command }) => html`
<li class="step"><h3>${title}</h3><p>${text}</p><pre><code>${command}</code></pre></li>`,
  )}
</ol>
</section>
</main>
<footer><a href="/healthz">/healthz</a> <a href="/readyz">/readyz</a>${
    detail === undefined ? '' : html` <a href="/metrics">/metrics</a> <span>Annex ${detail.version}</span>`
  }</footer>
</body>
</html>
`.text
}

function toDetail({ url, level, processes, work, integrations, more }: HomeDetail): Html {
  return html`<p class="lead">Runs at <code>${url}</code>. Scripts run behind the level <em>${level}</em>.</p>
<dl>
${toFigure('Integrations', integrations.length + more)}
${toFigure('Sandbox processes', processes)}
${toFigure('Jobs queued', work.queued)}
${toFigure('Jobs failed', work.failed, work.failed > 0)}
${toFigure('Receivers paused', work.paused, work.paused > 0)}
</dl>
<section>
<h2>Integrations</h2>
${integrations.length === 0 ? html`<p>None yet.</p>` : toTable(integrations)}
${more === 0 ? '' : html`<p>And ${more} more: <code>npx annex integrations</code></p>`}
</section>`
}

const toFigure = (name: string, value: number, isBad = false): Html =>
  html`<div class="${isBad ? 'bad' : ''}"><dt>${name}</dt><dd>${value.toLocaleString('en')}</dd></div>`

function toTable(integrations: IntegrationSummary[]): Html {
  return html`<div class="wide"><table>
<thead><tr><th>Name</th><th>Organization</th><th>Version</th><th>Installations</th></tr></thead>
<tbody>${integrations.map(
    (one) => html`
<tr><td>${one.name}${one.suspended ? html` <span class="tag">suspended</span>` : ''}</td><td>${one.organization}</td><td>${one.number ?? 'none'}</td><td>${toCounts(one)}</td></tr>`,
  )}
</tbody>
</table></div>`
}

function toCounts({ active, pending, held }: IntegrationSummary): string {
  const counts = [
    [active, 'active'],
    [pending, 'pending'],
    [held, 'paused or suspended'],
  ] as const
  return counts.flatMap(([count, name]) => (count > 0 ? [`${count} ${name}`] : [])).join(', ') || 'none'
}

/** HTML of this file, with escaped texts. */
class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Html | readonly Html[]

/** A template of HTML: each part is escaped unless it is HTML itself. */
function html(texts: TemplateStringsArray, ...parts: Part[]): Html {
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
