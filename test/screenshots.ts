// Writes the pictures of docs/images: `make screenshots`. Each page in two widths, light and dark.
import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '../host/db/open-database.ts'
import { createActivityRecorder } from '../host/metrics/record-activity.ts'
import { agreementTo } from './support/agreement.ts'
import { type Annex, installSample, until } from './support/annex.ts'
import { skipWithoutChromium } from './support/chromium.ts'
import { openConsole, pluginsDir } from './support/console.ts'
import { startReceiver } from './support/receiver.ts'

const folder = fileURLToPath(new URL('../docs/images', import.meta.url))
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

async function writeScreenshots(): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const opened = await openConsole({ pluginsDir, flags: { DELIVERY_RETRY_SECONDS: '1,2,3600' } })
  const receiver = await startReceiver(503, 503, 200)
  try {
    const pages = await makeRecords(opened.annex, receiver.url)
    for (const [width, colorScheme] of looks) {
      const tab = await opened.asOperator({ width, colorScheme })
      for (const [name, path] of Object.entries(pages)) {
        await tab.goto(path)
        // Parts load parts of their own, as charts do.
        await sleep(2_000)
        await until(
          () => tab.page.locator('.loading').count(),
          (count) => count === 0,
        )
        await tab.page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png` })
      }
      await tab.close()
    }
  } finally {
    await receiver.close()
    await opened.close()
  }
  console.log(`screenshots: in ${folder}`)
}

const looks = [1280, 375].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => [width, colorScheme] as const),
)

/** An organization with installations, a delivery whose receiver failed twice, and a setting that is missing. */
async function makeRecords(annex: Annex, receiver: string): Promise<Record<string, string>> {
  await recordDay(annex)
  await installSample(annex, 'echo')
  const webhook = await installSample(annex, 'webhook', 'site', {
    ...{ webhook_url: receiver, site_view: true, page_feedback: true },
  })
  const { id: site } = await annex.client.call('POST /v1/orgs/{org}/sites', {
    params: { org: 'home' },
    body: { slug: 'help', title: 'Help center', url: 'https://help.example.com' },
  })
  await annex.client.call('POST /v1/integrations/{integration}/installations/{installation}/sites', {
    params: { integration: 'webhook', installation: webhook.id },
    body: { site },
  })
  const { id: elements } = await annex.client.call('POST /v1/integrations/{integration}/installations', {
    params: { integration: 'elements' },
    body: { organization: 'home', ...(await agreementTo(annex, 'elements')) },
  })
  const ids = []
  for (const page of ['', 'install', 'events/signatures', 'events']) {
    await publishView(annex, `https://docs.example.com/${page}`)
    const { items } = await until(
      () => annex.client.call('GET /v1/deliveries'),
      ({ items: all }) => all.length > ids.length && all.every(({ state }) => state === 'delivered'),
    )
    ids.push(items[0]?.id)
  }
  return {
    overview: '/orgs/home?span=day&of=annex',
    installation: `/orgs/home/installations/${webhook.id}/sites/${annex.server.samples.site}`,
    delivery: `/orgs/home/deliveries/${ids[0]}`,
    catalogue: '/orgs/home/integrations',
    component: `/orgs/home/installations/${elements}`,
    page: `/orgs/home/spaces/${annex.server.samples.space}`,
  }
}

const publishView = ({ client, server }: Annex, url: string) =>
  client.call('POST /v1/events', {
    query: { organization: 'home' },
    body: {
      type: 'site_view',
      siteId: server.samples.site,
      visitor: { anonymousId: 'a', userAgent: 'Firefox', ip: '203.0.113.7', cookies: {} },
      url,
    } as never,
  })

/** What Annex counts in a day, for the charts: more visitors at noon, and an hour in which a receiver was down. */
async function recordDay({ dataDir, server }: Annex): Promise<void> {
  const { db, close } = await openDatabase('', dataDir)
  const endMs = Date.now()
  let nowMs = endMs - dayMs
  const recorder = createActivityRecorder(db, console.error, () => nowMs)
  const organizationId = server.samples.organization
  for (let minute = 0; nowMs < endMs; minute += 1, nowMs += minuteMs) {
    const part = (nowMs % dayMs) / dayMs
    const requests = Math.round(12 + 9 * Math.sin(2 * Math.PI * (part - 0.25)) + ((minute * 7) % 5))
    const isDown = minute > 19 * 60 && minute < 20 * 60
    for (let n = 0; n < requests; n++) {
      const wallMs = 3 + ((n * 7 + minute * 3) % 23)
      const status = (n + minute) % 61 === 0 ? 500 : 200
      recorder.noteDispatch({ organizationId, type: 'fetch', outcome: 'ok', status, wallMs, cpuMs: 2 })
      const state = isDown && n % 3 === 0 ? 'failed' : 'delivered'
      if (n % 2 === 0)
        recorder.noteAttempt({ organizationId, state, attempt: { durationMs: 20 + wallMs * 3 } })
    }
  }
  await recorder.close()
  await close()
}

const missing = skipWithoutChromium()
if (missing) {
  console.error(`screenshots: ${missing}`)
  process.exit(1)
}
await writeScreenshots()
// The browser of the tests ends with the process.
process.exit(0)
