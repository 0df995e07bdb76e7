import { type Html, html, type Page } from '../http/page.ts'
import { toVisible } from '../manifest/message-text.ts'

/** The question before an account is connected. Titles and names may be a stranger's. */
export type ConnectQuestion = {
  /** The host to which the script leads. Undefined when the script shows a page of its own first. */
  provider: string | undefined
  integration: { title: string; name: string }
  organization: { title: string; subdomain: string }
  /** The site or space. */
  place: { kind: 'site' | 'space'; title: string } | undefined
  /** The holder of the token that made the link. */
  maker: string
}

/** A longer name would push the next ones out of sight. */
const longestName = 60

/** Its name is short already, and its address must not be cut. */
const longestMaker = 400

/** The page that a link opens. Its button is a POST to its own address. */
export function toConnectPage(question: ConnectQuestion): Page {
  const { integration, organization, place } = question
  const [provider, title, owner] = [
    question.provider === undefined ? undefined : toName(question.provider),
    toName(integration.title),
    toName(organization.title),
  ]
  const maker = toName(question.maker, longestMaker)
  return {
    title: 'Connect an account · Annex',
    main: html`<div class="card">
<h2>Connect your account${provider === undefined ? '' : html` of ${provider}`} to ${title} in ${owner}</h2>
<p>Link made by <strong>${maker}</strong>.</p>
<dl>
<div><dt>Integration</dt><dd><code>${integration.name}</code></dd></div>
<div><dt>Organization</dt><dd><code>${organization.subdomain}</code></dd></div>
${place === undefined ? '' : html`<div><dt>${place.kind === 'site' ? 'Site' : 'Space'}</dt><dd>${toName(place.title)}</dd></div>`}
</dl>
<p class="muted">This organization can then use your account through the integration. If you did not expect this link, close the page.</p>
<form method="post"><button>${provider === undefined ? 'Go on' : html`Go on to ${provider}`}</button></form>
</div>`,
    // A provider may lead to a sign-in at any other host, and Chromium checks each redirect.
    formAction: "'self' http: https:",
    // With `no-referrer` the browser would send "Origin: null" with the form.
    referrerPolicy: 'same-origin',
  }
}

/** A name in its own direction, on one line, with invisible characters escaped. */
function toName(text: string, longest = longestName): Html {
  const characters = [...text.trim()]
  const short =
    characters.length > longest ? `${characters.slice(0, longest).join('')}…` : characters.join('')
  return html`<bdi>${toVisible(short)}</bdi>`
}
