import { createHash } from 'node:crypto'
import type { PageFeedback, SiteVisit } from '../../schemas/generated/api/views.ts'
import type { Site } from '../db/queries/places.ts'
import { AnnexError } from '../errors.ts'

/** As in browsers. */
const longestCookie = 4096

/** What the request of a page tells of its visitor. */
export type VisitorRequest = { urlOrigin: string; userAgent: string; language: string; ip: string }

/**
 * Checks that a page of the site has sent a visit: by its public key, by the header Origin, which a browser sets, and by the
 * page's address.
 *
 * Attack: a page of another site names this one. Its browser sends its own URL origin.
 *
 * @throws AnnexError `forbidden`
 */
export function assertFromSite(site: Site, { key, url }: SiteVisit, { urlOrigin }: VisitorRequest): void {
  if (key !== site.publicKey) {
    throw new AnnexError('forbidden', `The key is not that of the site ${site.id}. Include its script again.`)
  }
  const origins: string[] = JSON.parse(site.origins)
  if (!origins.includes(urlOrigin)) {
    const shown =
      urlOrigin === '' ? 'The request has no header Origin' : `${urlOrigin.slice(0, 300)} is no origin`
    const next = `Add the origin of the page to the site's script settings.`
    throw new AnnexError('forbidden', `${shown} of the site ${site.id}. ${next}`)
  }
  if (!URL.canParse(url) || new URL(url).origin !== urlOrigin) {
    throw new AnnexError('forbidden', `url is no address of ${urlOrigin}, where the request comes from.`)
  }
}

/** @returns a `site_view` to publish */
export const toSiteView = (site: Site, visit: SiteVisit, request: VisitorRequest): object => ({
  type: 'site_view',
  siteId: site.id,
  ...(visit.pageId !== undefined && { pageId: visit.pageId }),
  ...toVisit(site, visit, request, namedCookies(site, visit)),
})

/** Attack: a page sends its session cookie, or thousands of cookies. Only those that the site names pass. */
function namedCookies({ viewCookies }: Site, { cookies = {} }: SiteVisit): Record<string, string> {
  const names: string[] = JSON.parse(viewCookies)
  return Object.fromEntries(Object.entries(cookies).filter(([name]) => names.includes(name)))
}

/** @returns a `page_feedback` to publish. A page of no space is named by its path */
export const toPageFeedback = (site: Site, given: PageFeedback, request: VisitorRequest): object => ({
  type: 'page_feedback',
  siteId: site.id,
  ...(given.spaceId !== undefined && { spaceId: given.spaceId }),
  pageId: given.pageId ?? new URL(given.url).pathname.slice(0, 200),
  feedback: { rating: given.rating, ...(given.comment !== undefined && { comment: given.comment }) },
  // The scope of feedback alone does not give cookies.
  ...toVisit(site, given, request, {}),
})

function toVisit(
  site: Site,
  { url, referrer, anonymousId }: SiteVisit,
  request: VisitorRequest,
  cookies: Record<string, string>,
): object {
  const { userAgent, language, ip } = request
  return {
    visitor: {
      anonymousId: anonymousId ?? toAnonymousId(site, request),
      userAgent,
      ip,
      cookies,
      ...(language !== '' && { language }),
    },
    url,
    referrer: referrer ?? '',
  }
}

/** The same for a visitor of one day. Nothing of it names the visitor on another day or another site. */
function toAnonymousId({ id, publicKey }: Site, { ip, userAgent }: VisitorRequest): string {
  const day = new Date().toISOString().slice(0, 10)
  const text = JSON.stringify([id, publicKey, day, ip, userAgent])
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

/**
 * The script of a page. `publicUrl` and the site come from the host: a visitor has no say in its text.
 *
 * A page that comes back from the back/forward cache runs no script again: only `pageshow` tells. An element with the id
 * `navigation` has that name where a browser has no Navigation API.
 */
export function createSiteScript({ id, publicKey, viewCookies }: Site, publicUrl: string): string {
  const cookies = viewCookies === '[]' ? '' : 'cookies: cookies()'
  const address = JSON.stringify(`${publicUrl}/v1/sites/${encodeURIComponent(id)}/`)
  return `(() => {
${cookies && toCookieReader(viewCookies)}  const api = globalThis.navigation?.navigate && navigation
  const withoutHash = (url) => url.split('#')[0]
  let [page, before] = ['', document.referrer]
  const toBody = (more) => JSON.stringify({ key: ${JSON.stringify(publicKey)}, url: location.href, referrer: before, ...more })
  const send = (path, more) =>
    fetch(${address} + path, { method: 'POST', keepalive: true, credentials: 'omit', body: toBody(more) }).catch(() => {})
  const count = (from) => {
    [page, before] = [withoutHash(location.href), from || document.referrer]
    if (!navigator.globalPrivacyControl) send('views', {${cookies}})
  }
  const view = () => void (withoutHash(location.href) === page || count(page))
  globalThis.annex = { view, feedback: (rating, comment, page) => send('feedback', { rating, comment, ...page }) }
  addEventListener('pageshow', ({ persisted }) => persisted && count(withoutHash(api?.activation?.from?.url ?? '')))
  ;(api ?? window).addEventListener(api ? 'navigatesuccess' : 'popstate', view)
  const changed = { apply: (...call) => view(Reflect.apply(...call)) }
  if (!api) for (const name of ['pushState', 'replaceState']) history[name] = new Proxy(history[name], changed)
  document.prerendering ? document.addEventListener('prerenderingchange', view, { once: true }) : view()
})()
`
}

/**
 * Of equal names a page lists the nearest path first, which counts. A frame without an origin may not read cookies.
 *
 * @param names a list as JSON text
 */
const toCookieReader = (names: string): string => `  const cookies = () => {
    try {
      const pairs = document.cookie.split('; ').reverse().map((pair) => /^([^=]*)=(.*)$/.exec(pair) ?? [])
      return Object.fromEntries(
        pairs.flatMap(([, name, value]) => (${names}.includes(name) && value.length <= ${longestCookie} ? [[name, value]] : [])),
      )
    } catch {
      return {}
    }
  }
`
