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
