import type { IntegrationSummary } from '../db/queries/integrations.ts'
import { type Html, html, type Page } from '../http/page.ts'
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

export function toHomePage({ problems, steps, detail }: Home): Page {
  const isReady = problems.length === 0
  return {
    title: 'Annex',
    state: html`<p class="state ${isReady ? 'good' : 'bad'}">${isReady ? 'Ready' : 'Not ready'}</p>`,
    main: html`${problems.map((problem) => html`<p class="problem">${problem}</p>`)}
${detail === undefined ? html`<p class="lead">A self-hosted integration platform runs here.</p>` : toDetail(detail)}
<section>
<h2>Next steps</h2>
<ol>${steps.map(
      ({ title, text, command }) => html`
<li class="step"><h3>${title}</h3><p>${text}</p><pre><code>${command}</code></pre></li>`,
    )}
</ol>
</section>
${otherPages}`,
    footer: html`<a href="/healthz">/healthz</a> <a href="/readyz">/readyz</a>${
      detail === undefined ? '' : html` <a href="/metrics">/metrics</a> <span>Annex ${detail.version}</span>`
    }`,
  }
}

/**
 * Components of scripts have buttons to the addresses in `urls.app`. All of them are this page with a fragment, which the
 * server does not see.
 */
const otherPages = html`<section>
<h2>Did a button lead here?</h2>
<p>Integrations, installations, sites and spaces have no pages of their own yet. Until then, an admin sees and changes them by the
command line.</p>
<pre><code>npx annex installations
npx annex configure --help</code></pre>
</section>`

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
