/** A step for a person: title, reason, and a command to paste. */
export type Step = { title: string; text: string; command: string }

/**
 * The main job in three steps: a handler answers, an integration is installed, an event is delivered. Steps whose plugin is
 * not loaded are left out.
 */
export function mainJob(url: string, isLoaded: (name: string) => boolean): Step[] {
  const call = {
    title: 'Call an integration',
    text: 'A script in a sandbox answers.',
    command: `curl -X POST ${url}/x/echo`,
  }
  const receiver = isLoaded('echo') ? `${url}/x/echo` : 'https://example.com/hook'
  const deliver = [
    {
      title: 'Install the webhook integration',
      text: 'In the sample site, with the address that gets its events.',
      command: `npx annex install webhook --site sample --set webhook_url=${receiver} --set site_view=true --yes`,
    },
    {
      title: 'Publish an event',
      text: 'And follow it: handler, delivery, attempt, delivered.',
      command: 'npx annex events publish site_view --site sample --follow',
    },
  ]
  return [...(isLoaded('echo') ? [call] : []), ...(isLoaded('webhook') ? deliver : [])]
}

/** For an operator: the main job; where steps are left out, how to write and load an integration. */
export function operatorSteps(url: string, isLoaded: (name: string) => boolean): Step[] {
  const own = [
    {
      title: 'Write an integration',
      text: 'Put a folder with a service-manifest.yaml into plugins/; docs/plugins.md says how. This checks it.',
      command: 'npx annex check',
    },
    { title: 'Load it', text: 'Annex reads all plugin folders again.', command: 'npx annex reload' },
    { title: 'Install it', text: 'In your organization.', command: 'npx annex install NAME --yes' },
  ]
  return [...mainJob(url, isLoaded), ...own].slice(0, 3)
}

/** For a visitor without a token. */
export const visitorSteps = (url: string): Step[] => [
  {
    title: 'You run this Annex',
    text: 'An operator’s token shows what runs. The setting METRICS_ACCESS says who sees it without one.',
    command: `curl -H "Authorization: Bearer TOKEN" ${url}/`,
  },
  {
    title: 'You install integrations',
    text: 'An operator makes a token for your organization. It lists what you can install.',
    command: `curl -H "Authorization: Bearer TOKEN" ${url}/v1/integrations`,
  },
  { title: 'You watch it', text: 'This says whether each part is ready.', command: `curl ${url}/readyz` },
]
