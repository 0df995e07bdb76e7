/** A browser as far as redirects and cookies go: it has cookies of its own, and follows a redirect where it is told. */
export type Browser = {
  /** One request, without following a redirect. */
  get: (url: string) => Promise<Response>
  /** Presses the button of a page whose form has no fields. */
  press: (url: string) => Promise<Response>
  /**
   * Follows redirects until an answer is none, or its `Location` matches `stop`. On the page of a link it presses the button.
   * @returns the last answer, and its address
   */
  follow: (
    url: string,
    stop?: RegExp,
  ) => Promise<{ response: Response; url: string; next: string | undefined }>
  /** The cookies that are kept for an address, as their header. */
  cookiesFor: (url: string) => string
}

type Cookie = { name: string; value: string; host: string; path: string }

const mostRedirects = 20

/** @param given cookies for 127.0.0.1 */
export function createBrowser(given: Record<string, string> = {}): Browser {
  let cookies = Object.entries(given).map(
    ([name, value]): Cookie => ({ name, value, host: '127.0.0.1', path: '/' }),
  )
  return { get, press, follow, cookiesFor }

  function get(url: string): Promise<Response> {
    return ask(url, 'GET', {})
  }

  function press(url: string): Promise<Response> {
    return ask(url, 'POST', { origin: new URL(url).origin, 'sec-fetch-site': 'same-origin' })
  }

  async function ask(url: string, method: string, headers: Record<string, string>): Promise<Response> {
    const cookie = cookiesFor(url)
    const response = await fetch(url, { method, redirect: 'manual', headers: { cookie, ...headers } })
    for (const line of response.headers.getSetCookie()) store(line, new URL(url))
    return response
  }

  async function follow(start: string, stop?: RegExp) {
    let url = start
    for (let n = 0; n < mostRedirects; n++) {
      let response = await get(url)
      if (response.status === 200 && new URL(url).pathname.startsWith('/connect/')) {
        await response.body?.cancel()
        response = await press(url)
      }
      const location = response.headers.get('location')
      const next = location === null ? undefined : new URL(location, url).href
      if (next === undefined || stop?.test(next)) return { response, url, next }
      await response.body?.cancel()
      url = next
    }
    throw new Error(`more than ${mostRedirects} redirects from ${start}`)
  }

  /** Ports share cookies, as in a real browser. */
  function cookiesFor(url: string): string {
    const { hostname, pathname } = new URL(url)
    return cookies
      .filter(({ host, path }) => host === hostname && `${pathname}/`.startsWith(path.replace(/\/?$/, '/')))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  function store(line: string, { hostname: host, pathname }: URL): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    const attribute = (key: string) =>
      attributes.find((one) => one.toLowerCase().startsWith(`${key}=`))?.slice(key.length + 1)
    const path = attribute('path') ?? pathname.replace(/\/[^/]*$/, '/')
    cookies = cookies.filter((one) => one.name !== name || one.host !== host || one.path !== path)
    const ended = attribute('max-age') === '0' || Date.parse(attribute('expires') ?? '') < Date.now()
    if (!ended) cookies.push({ name, value, host, path })
  }
}
