import type { Browser, BrowserContext, Page } from 'playwright-core'

/** `width`: below 800 px the device has a touch screen. */
export type Look = { width: number; colorScheme: 'light' | 'dark'; url: string }

export type SpareTabs = {
  take: (look: Look) => Promise<{ context: BrowserContext; page: Page }>
  giveBack: (look: Look, context: BrowserContext, page: Page) => Promise<void>
}

/** What tests listen to. Playwright has listeners of its own for other events. */
const events = ['console', 'pageerror', 'request', 'response', 'popup', 'dialog', 'page']

/** It says nothing of how soon an answer comes: a machine may be busy. */
const timeoutMs = 60_000

/**
 * Keeps the browser contexts of tabs that were closed, for the next tabs: to make one and to load the console the first time takes
 * 3 s of CPU.
 */
export function createSpareTabs(browser: Browser): SpareTabs {
  const kept = new Map<string, { context: BrowserContext; page: Page }[]>()
  return { take, giveBack }

  async function take(look: Look) {
    const { width, colorScheme, url } = look
    const viewport = { width, height: 900 }
    const spare = kept.get(kindOf(look))?.pop()
    if (spare !== undefined) {
      spare.page.setDefaultTimeout(timeoutMs)
      await spare.page.setViewportSize(viewport)
      await spare.page.emulateMedia({ colorScheme })
      return spare
    }
    const context = await browser.newContext({
      ...{ baseURL: url, viewport, colorScheme, hasTouch: isTouched(width) },
      // A proxy of a test has a certificate of its own.
      ignoreHTTPSErrors: true,
    })
    const page = await context.newPage()
    page.setDefaultTimeout(timeoutMs)
    return { context, page }
  }

  /** Nothing of a person stays: no cookie, no storage, no right, no route, and no page that could still ask. */
  async function giveBack(look: Look, context: BrowserContext, page: Page): Promise<void> {
    for (const event of events) {
      page.removeAllListeners(event)
      context.removeAllListeners(event)
    }
    for (const other of context.pages()) if (other !== page) await other.close()
    await context.unrouteAll({ behavior: 'ignoreErrors' })
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await context.clearPermissions()
    await context.setOffline(false)
    // A page of the same origin keeps the process of the renderer, and its files in memory.
    await page.goto(`${look.url}/healthz`)
    // After the page has left: an answer on its way to it may set a cookie.
    await context.clearCookies()
    await page.evaluate('localStorage.clear(); sessionStorage.clear()')
    const spare = kept.get(kindOf(look)) ?? []
    kept.set(kindOf(look), [...spare, { context, page }])
  }
}

const kindOf = ({ url, width }: Look): string => `${url} ${isTouched(width)}`

const isTouched = (width: number): boolean => width < 800
