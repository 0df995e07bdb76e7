import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type Annex, startAnnex } from './annex.ts'
import { startChromium } from './chromium.ts'
import { createSpareTabs } from './spare-tabs.ts'

export const password = 'a sentence that is long'
/** The plugins that come with Annex. */
export const pluginsDir = fileURLToPath(new URL('../../plugins', import.meta.url))

/** An Annex whose console is open in a browser. */
export type OpenConsole = {
  annex: Annex
  /** A passkey belongs to a name: `http://localhost:PORT`. */
  url: string
  open: (options?: TabOptions) => Promise<Tab>
  /**
   * A tab that is signed in as the operator, who is made by the first call. Tabs share this session, unless one is to have its
   * own: a sign-in takes long on a busy machine.
   */
  asOperator: (options?: TabOptions & { ownSession?: boolean }) => Promise<Tab>
  /** A tab of a new member of an organization. */
  asMember: (organization: string, role: 'reader' | 'editor' | 'admin', options?: TabOptions) => Promise<Tab>
  close: () => Promise<void>
}

export type TabOptions = { width?: number; colorScheme?: 'light' | 'dark'; url?: string }

export type Tab = {
  context: BrowserContext
  page: Page
  /**
   * Leads to a page of the console, as a link does, and waits for its heading: it costs a fifth of a load. The page is loaded where
   * something of the page before would stay: a dialog, a toast, or another query of the same path.
   */
  goto: (path: string) => Promise<void>
  /** Loads a page of the console as from a bookmark, with all its modules, and waits for its heading. */
  load: (path: string) => Promise<void>
  /** What the page wrote to the browser's console, without Chromium's own lines for answers of 400 and more. */
  said: string[]
  /** The codes of these lines. */
  refused: number[]
  /**
   * The next tab takes its browser context. A test that adds a script to each page, or sets the clock of the browser, closes the
   * context instead: neither can be taken back.
   */
  close: () => Promise<void>
}

/** One browser serves all tests of a process. Playwright ends it with the process. */
let browser: Promise<Browser> | undefined

export async function openConsole(given: Parameters<typeof startAnnex>[0] = {}): Promise<OpenConsole> {
  browser ??= startChromium()
  const chromium = await browser
  const spare = createSpareTabs(chromium)
  const annex = await startAnnex(given)
  const url = annex.url.replace('127.0.0.1', 'localhost')
  const contexts = new Set<BrowserContext>()
  let session: Awaited<ReturnType<BrowserContext['cookies']>> | undefined
  let members = 0
  return { annex, url, open, asOperator, asMember, close }

  async function open({ width = 1280, colorScheme = 'light', url: at = url }: TabOptions = {}): Promise<Tab> {
    const look = { width, colorScheme, url: at }
    const { context, page } = await spare.take(look)
    const said: string[] = []
    const refused: number[] = []
    page.on('console', (message) => {
      const status = /^Failed to load resource: .* status of (\d+)/.exec(message.text())?.[1]
      if (status === undefined) said.push(`${message.type()}: ${message.text()}`)
      else refused.push(Number(status))
    })
    page.on('pageerror', (error) => said.push(`error: ${error.message}`))
    const tab: Tab = {
      ...{ context, page, said, refused },
      async goto(path) {
        if (!(await page.evaluate<boolean>(follow(new URL(path, at))))) return tab.load(path)
        await page.locator('h1:not([data-left])').waitFor()
      },
      async load(path) {
        await page.goto(path)
        await page.locator('h1').waitFor()
      },
      async close() {
        await spare.giveBack(look, context, page)
      },
    }
    contexts.add(context)
    return tab
  }

  async function asOperator({ ownSession = false, ...options }: TabOptions & { ownSession?: boolean } = {}) {
    const tab = await open(options)
    const email = 'olga@example.com'
    const link = annex.server.setupUrl?.split('#')[1]
    if (session === undefined) {
      await send(tab, '/v1/accounts', { link, email, name: 'Olga', password })
      session = await tab.context.cookies()
    } else if (ownSession) await send(tab, '/v1/sessions', { email, password })
    else await tab.context.addCookies(session)
    return tab
  }

  async function asMember(org: string, role: 'reader' | 'editor' | 'admin', options?: TabOptions) {
    members += 1
    const email = `${role}-${members}@example.com`
    const member = await annex.client.call('POST /v1/orgs/{org}/members', {
      params: { org },
      body: { email, role },
    })
    const { link } = await annex.client.call('POST /v1/orgs/{org}/members/{member}/invitation', {
      params: { org, member: member.id },
    })
    const tab = await open(options)
    await send(tab, '/v1/accounts', { link, name: role, password })
    return tab
  }

  async function close(): Promise<void> {
    for (const context of contexts) await context.close()
    await annex.close()
  }
}

/** What a click on a link does in a page that is signed in. The page says whether it was possible. */
const follow = ({ href, origin, pathname, hash }: URL): string => `(() => {
  const { origin, pathname } = location
  if (origin !== '${origin}' || pathname === ${JSON.stringify(pathname)} || ${hash !== ''}) return false
  if (!document.querySelector('.frame') || document.querySelector('dialog[open], .toast, .banner')) return false
  for (const heading of document.querySelectorAll('h1')) heading.dataset.left = ''
  history.pushState(null, '', ${JSON.stringify(href)})
  dispatchEvent(new PopStateEvent('popstate'))
  return true
})()`

/** A request as a page of the console sends it, without the page: to open one takes longer. Its cookies are those of the tab. */
async function send({ context: { request } }: Tab, path: string, data: object): Promise<void> {
  // It tells Annex that this browser sends a secure cookie back.
  await request.get('/v1/sign-in')
  const response = await request.post(path, { data, headers: { 'sec-fetch-site': 'same-origin' } })
  if (response.status() !== 201) throw new Error(`${path}: ${response.status()} ${await response.text()}`)
}

/**
 * How long an element moves, by what a person asks of the browser.
 *
 * @param element the arguments of `getComputedStyle`, as source
 */
export async function readMotion(page: Page, element: string): Promise<Record<string, string>> {
  const durations: Record<string, string> = {}
  for (const reducedMotion of ['no-preference', 'reduce'] as const) {
    await page.emulateMedia({ reducedMotion })
    durations[reducedMotion] = await page.evaluate(`getComputedStyle(${element}).transitionDuration`)
  }
  await page.emulateMedia({ reducedMotion: null })
  return durations
}
