// A space of 10,000 pages: how long its first revision takes, what one changed file costs, and what others wait meanwhile.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTerminal } from '../../host/cli/terminal.ts'
import { createClient } from '../../schemas/client.ts'
import { watchMemory } from './deliveries/watch-memory.ts'
import { readOptions } from './measure/read-options.ts'
import { describeMachine, printGoals } from './report.ts'
import { createFolders, startAnnex } from './servers/start-annex.ts'

const { quick } = readOptions({ quick: { type: 'boolean', default: false } })
const count = quick ? 1_000 : 10_000
const paragraph = 'Annex stores each page as a row that holds from one revision to another. '

const terminal = createTerminal(process)
await using ends = new AsyncDisposableStack()
const folders = createFolders()
ends.defer(folders.remove)
const folder = join(folders.dataDir, '..', 'space')
for (let n = 0; n < count; n += 1) {
  const part = join(folder, `part-${Math.floor(n / 100)}`)
  mkdirSync(part, { recursive: true })
  writeFileSync(join(part, `page-${n}.md`), `# Page ${n}\n\n${paragraph.repeat(40)}\n`)
}
const annex = await startAnnex(folders)
ends.defer(annex.close)
const api = createClient({ url: annex.origin, token: annex.token })
const before = watchMemory(annex.pid).stop()

const memory = watchMemory(annex.pid)
const probes = [probeServer('GET /healthz'), probeServer('GET /v1/orgs')]
const imported = performance.now()
const space = await api.call('POST /v1/orgs/{org}/spaces', {
  params: { org: 'home' },
  body: { slug: 'large', title: 'Large', folder },
})
const importMs = performance.now() - imported
const [loopMs = 0, readMs = 0] = await Promise.all(probes.map((probe) => probe.stop()))
const peak = memory.stop()

const rows = countRows()
const first = await revision()
const changed = performance.now()
writeFileSync(join(folder, 'part-0', 'page-0.md'), '# Page 0\n\nOther words.\n')
while ((await revision()) === first) await sleep(20)
const changeMs = performance.now() - changed

terminal.say(describeMachine().text)
printGoals(terminal, [
  { name: `${count} pages imported`, value: importMs / 1000, unit: 's', atMost: 20 },
  { name: 'longest answer of /healthz meanwhile', value: loopMs, unit: 'ms', atMost: 250 },
  { name: 'longest answer of /v1/orgs meanwhile', value: readMs, unit: 'ms', atMost: 500 },
  { name: 'more memory at the peak', value: peak - before, unit: 'MB', atMost: 256 },
  { name: 'one changed file, from its write to the revision', value: changeMs, unit: 'ms', atMost: 3_000 },
  { name: 'rows written for it', value: countRows() - rows, atMost: 1 },
])

async function revision(): Promise<string | null> {
  return (await api.call('GET /v1/spaces/{space}', { params: { space: space.id } })).revision
}

function countRows(): number {
  const database = new DatabaseSync(join(folders.dataDir, 'annex.sqlite'), { readOnly: true })
  const row = database.prepare('select count(*) as count from pages').get()
  database.close()
  return Number(row?.count)
}

/** Asks a route again and again. `stop` gives the longest time of an answer. */
function probeServer(address: 'GET /healthz' | 'GET /v1/orgs'): { stop: () => Promise<number> } {
  let longest = 0
  let isOver = false
  const running = (async () => {
    while (!isOver) {
      const startedAt = performance.now()
      await api.call(address)
      longest = Math.max(longest, performance.now() - startedAt)
      await sleep(5)
    }
  })()
  return {
    async stop() {
      isOver = true
      await running
      return longest
    },
  }
}
