// What a script's call to the API costs: the time of a request with calls, less that of one without.
import { createTerminal } from '../../host/cli/terminal.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { ask } from './measure/ask.ts'
import { median } from './measure/quantile.ts'
import { describeMachine, printTargets, printTimes } from './report.ts'
import { createFolders, startAnnex } from './servers/start-annex.ts'

const calls = 40
const rounds = 300

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async (request, { api, environment }) => {
  const { integration, installation } = environment
  const calls = request.url.includes('calls') ? ${calls} : 0
  for (let n = 0; n < calls; n += 1) await api.integrations.getIntegrationInstallationById(integration.name, installation.id)
  return new Response('done')
} })`

const terminal = createTerminal(process)
await using ends = new AsyncDisposableStack()
const folders = createFolders()
ends.defer(async () => folders.remove())
writePlugin(folders.pluginsDir, 'caller', { script })
const annex = await startAnnex(folders)
ends.defer(annex.close)
const { urls } = await annex.install('caller')

const times: { without: number[]; each: number[] } = { without: [], each: [] }
for (let round = -rounds / 3; round < rounds; round += 1) {
  const without = await ask(urls.publicEndpoint)
  const withCalls = await ask(`${urls.publicEndpoint}?calls`)
  if (round < 0) continue
  times.without.push(without)
  times.each.push((withCalls - without) / calls)
}

terminal.say(describeMachine().text)
terminal.say(
  `${rounds} requests without a call and ${rounds} with ${calls} calls one after the other, in turn`,
)
printTimes(terminal, '', [
  ['a request without a call', times.without],
  ['a call', times.each],
])
printTargets(terminal, [{ name: 'a call, p50', value: median(times.each), unit: 'ms', atMost: 1 }])
