import { createIntegration, createOAuthHandler, ExposableError } from '@annex/runtime'
import { countText } from './count.ts'
import type { Integration } from './generated/integration.ts'

const teams = ['Documentation', 'Engineering', 'Support']

const connect = createOAuthHandler({
  clientId: 'handbook-stats',
  clientSecret: 'set by whoever runs the report service',
  authorizeURL: 'https://reports.example/authorize',
  accessTokenURL: 'https://reports.example/token',
})

export default createIntegration<Integration>({
  fetch: async (request, context) => {
    const { pathname } = new URL(request.url)
    if (pathname.endsWith('/teams')) return Response.json(teams.map((team) => ({ id: team, label: team })))
    if (pathname.endsWith('/oauth')) return connect(request, context)
    return Response.json(await measure(context))
  },
  events: {
    space_content_updated: async (event, context) => {
      const { environment } = context
      const url = environment.installation?.configuration.report_url
      if (!url) return
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${environment.secrets.REPORT_TOKEN ?? ''}`,
        },
        body: JSON.stringify({ revision: event.revisionId, ...(await measure(context)) }),
      })
      // Thrown, so that Annex runs this handler again.
      if (!response.ok) throw new Error(`the report was answered with ${response.status}`)
    },
  },
})

type Context = Parameters<NonNullable<Parameters<typeof createIntegration<Integration>>[0]['fetch']>>[1]

type Pages = Awaited<ReturnType<Context['api']['spaces']['getCurrentRevision']>>['data']['pages']

/** The pages with those below them. Groups have no text. */
const listAll = (pages: Pages): Pages =>
  pages.flatMap((page) => [...(page.type === 'group' ? [] : [page]), ...listAll(page.pages ?? [])])

/** The numbers of the space that this endpoint or event belongs to. */
async function measure({ api, environment }: Context) {
  const { installation, spaceInstallation } = environment
  if (installation === undefined || spaceInstallation === undefined) {
    throw new ExposableError('Install this in a space, and call the endpoint of that space.', 404)
  }
  const { unit, words_per_minute: speed } = installation.configuration
  const { include_headings: includeHeadings } = spaceInstallation.configuration
  const { data: revision } = await api.spaces.getCurrentRevision(spaceInstallation.space)
  const texts = await Promise.all(
    listAll(revision.pages).map(
      async ({ id }) => (await api.spaces.getPageById(spaceInstallation.space, id)).data.markdown ?? '',
    ),
  )
  const count = (wanted: 'words' | 'characters') =>
    texts.reduce((sum, text) => sum + countText(text, wanted, includeHeadings), 0)
  return {
    team: installation.configuration.team,
    pages: texts.length,
    [unit]: count(unit),
    minutes: Math.ceil(count('words') / speed),
  }
}
