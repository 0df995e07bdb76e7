// What a script's call to the API costs: the time of a request with calls, less that of one without.
import { createTerminal } from '../../host/cli/terminal.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { ask } from './measure/ask.ts'
import { median } from './measure/quantile.ts'
import { describeMachine, printGoals, printTimes } from './report.ts'
import { createFolders, startAnnex } from './servers/start-annex.ts'

const calls = 40
const rounds = 150

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async (request, { api, environment }) => {
  const { integration, installation, apiEndpoint } = environment
  const kind = new URL(request.url).searchParams.get('kind')
  for (let n = 0; kind && n < ${calls}; n += 1) {
    if (kind === 'nothing') await (await fetch(apiEndpoint + '/v1/nothing')).text()
    else await api.integrations.getIntegrationInstallationById(integration.name, installation.id)
  }
  return new Response('done')
} })`

const terminal = createTerminal(process)
await using ends = new AsyncDisposableStack()
const folders = createFolders()
ends.defer(async () => folders.remove())
writePlugin(folders.pluginsDir, 'caller', { script })
const annex = await startAnnex(folders, { RATE_LIMIT_TOKEN: '0' })
ends.defer(annex.close)
const { urls } = await annex.install('caller')

const times: Record<'without' | 'nothing' | 'record', number[]> = { without: [], nothing: [], record: [] }
for (let round = -rounds / 3; round < rounds; round += 1) {
  const without = await ask(urls.publicEndpoint)
  const [nothing, record] = [await askWith('nothing', without), await askWith('record', without)]
  if (round < 0) continue
  times.without.push(without)
  times.nothing.push(nothing)
  times.record.push(record)
}

terminal.say(describeMachine().text)
terminal.say(`${rounds} requests without a call, and as many with ${calls} calls one after the other`)
printTimes(terminal, '', [
  ['a request without a call', times.without],
  ['a call to a route that is not there', times.nothing],
  ['a call that reads an installation', times.record],
])
printGoals(terminal, [
  { name: 'a call, p50', value: median(times.nothing), unit: 'ms', atMost: 1 },
  { name: 'a call that reads a record, p50', value: median(times.record), unit: 'ms', atMost: 1 },
])

async function askWith(kind: string, without: number): Promise<number> {
  return ((await ask(`${urls.publicEndpoint}?kind=${kind}`)) - without) / calls
}
