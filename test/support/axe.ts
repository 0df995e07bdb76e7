import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * What axe-core finds on the page as it is, a line each. The page's policy holds for axe, too. The page in a frame is a script's:
 * axe is not in it, and each message to it would be a warning in the browser's console.
 */
export async function findBarriers(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>('typeof window.axe?.run === "function"'))) await page.evaluate(source)
  const { violations }: AxeResults = await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"], iframes: false })',
  )
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help} at ${target.join(' ')}: ${failureSummary}`),
  )
}

/** How many pixels of the page are beyond the right edge of the window. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
