import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/**
 * `shell`: the headless shell, with the same engine and no window around it, where there is one: it uses a third less CPU. `whole`:
 * the browser that people use, with its cache of pages to go back to.
 */
export type ChromiumKind = 'shell' | 'whole'

const given = process.env.CHROMIUM || undefined
const whole = firstOf(
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  // Playwright's own, where a developer has it.
  chromium.executablePath(),
)
const executables = {
  shell: given ?? firstOf('/usr/bin/chromium-headless-shell') ?? whole,
  whole: given ?? whole,
}

function firstOf(...paths: string[]): string | undefined {
  return paths.find((path) => existsSync(path))
}

/** Why a test in a real browser is left out, or false. With ANNEX_CI=1 a missing Chromium is an error. */
export function skipWithoutChromium(kind: ChromiumKind = 'shell'): string | false {
  if (executables[kind] !== undefined) return false
  const text = 'Chromium is not installed (Debian: apt-get install chromium), and CHROMIUM names none'
  if (process.env.ANNEX_CI === '1') throw new Error(`${text}, and ANNEX_CI=1 asks for it.`)
  return text
}

/** Starts Chromium without a window. It sends no requests of its own. */
export function startChromium(kind: ChromiumKind = 'shell'): Promise<Browser> {
  const executable = executables[kind]
  if (executable === undefined) throw new Error('Chromium is not installed.')
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync']
  // A name of another machine in the same network, as Chromium sees it.
  const lan = '--host-resolver-rules=MAP annex.lan 127.0.0.1'
  // Chromium's own sandbox does not start as root, as in a container.
  return chromium.launch({
    executablePath: executable,
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', lan, ...quiet],
  })
}
