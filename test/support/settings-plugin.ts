import type { PluginSource } from './plugin-folder.ts'

/**
 * A plugin with each kind of setting in each level. Its setup handlers log what they got, and fail for the text "wrong". Its
 * choices are at `/channels`, and its connection at `/oauth` of a provider of the test.
 */
export const settingsPlugin = (provider: string): PluginSource => ({
  scopes: ['site:views:read'],
  script: `import { createIntegration, createOAuthHandler } from '@annex/runtime'
const oauth = createOAuthHandler({
  clientId: 'id', clientSecret: 'key',
  authorizeURL: '${provider}/authorize', accessTokenURL: '${provider}/token',
  extractCredentials: (answer) => ({ externalIds: [], account: answer.account, configuration: { oauth_credentials: { access_token: answer.access_token } } }),
})
const channels = Array.from({ length: 5 }, (_, n) => ({ label: 'Channel ' + n, value: 'c' + n }))
const setup = (event, { environment }) => {
  const { configuration } = environment.siteInstallation ?? environment.installation
  console.log('team is ' + configuration.team)
  if (configuration.team === 'wrong') throw new Error('there is no team called wrong')
}
export default createIntegration({
  fetch: async (request, context) => {
    const { environment } = context
    const url = new URL(request.url)
    if (url.pathname.endsWith('/oauth')) return oauth(request, context)
    if (url.pathname.endsWith('/channels')) {
      const q = (url.searchParams.get('q') ?? '').toLowerCase()
      const page = Number(url.searchParams.get('page') ?? 0)
      const found = channels.filter(({ label }) => label.toLowerCase().includes(q))
      return Response.json({ options: found.slice(page * 3, page * 3 + 3), ...(found.length > page * 3 + 3 && { next: String(page + 1) }) })
    }
    if (url.pathname.endsWith('/store')) {
      const { installation, siteInstallation, apiTokens } = environment
      const place = siteInstallation === undefined ? '' : '/sites/' + siteInstallation.site
      const { status } = await fetch(environment.apiEndpoint + '/v1/integrations/' + environment.integration.name + '/installations/' + installation.id + place, {
        method: 'PATCH',
        headers: { authorization: 'Bearer ' + apiTokens.installation, 'content-type': 'application/json' },
        body: JSON.stringify({ configuration: { cursor: 'stored-cursor' }, keep: 'all' }),
      })
      return new Response(String(status))
    }
    return new Response('ok')
  },
  events: { installation_setup: setup, site_installation_setup: setup },
})`,
  more: `
configurations:
  account:
    properties:
      team: { type: string, title: Team, description: Whose handbook it is. }
      api_key: { type: string, title: API key, secret: true }
  site:
    properties:
      team: { type: string, title: Team, description: Whose handbook it is. }
      address: { type: string, title: Address, description: Gets a POST for each event., format: uri }
      speed: { type: number, title: Reading speed, default: 200 }
      headings: { type: boolean, title: Count headings, default: true }
      drafts: { type: boolean, title: Count drafts }
      region: { type: string, title: Region, enum: [eu, us, ap] }
      channel: { type: string, title: Channel, completion_url: /channels }
      api_key: { type: string, title: API key, description: It is not shown again., secret: true }
      account: { type: button, title: Account, description: Reports are filed there., button_text: Connect the account, callback_url: /oauth }
    required: [address, team]`,
})
