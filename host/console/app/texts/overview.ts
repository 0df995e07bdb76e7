export const textsOfOverview = {
  overview: {
    title: 'Overview',
    works: (count: number) =>
      count === 1 ? 'The one installation works.' : `All ${count.toLocaleString('en')} installations work.`,
    nothing: 'Nothing is installed yet.',
    needs: (count: number) => (count === 1 ? 'One thing needs you.' : `${count} things need you.`),
    problems: 'What needs you',
    ofHost: 'Concerns this Annex as a whole',
    since: 'Since',
    command: 'In a terminal',
    open: {
      installation: 'Open the installation',
      receiver: 'Open the receiver',
      integration: 'Open the integration',
    },
    mended: (label: string) => `Done: ${label}.`,
    connectHere: 'Annex made a link to connect. Open it to continue.',
    installations: 'Installations',
    noInstallations: 'No integration is installed in this organization yet.',
    moreInstallations: 'The first 100 are shown.',
    counts: (count: number, state: string) => `${count.toLocaleString('en')} ${state.toLowerCase()}`,
    allInstallations: 'All installations',
    deliveries: 'Last deliveries',
    noDeliveries: 'No delivery yet. An installation queues one when an event comes.',
    allDeliveries: 'All deliveries',
    columns: { integration: 'Integration', state: 'State', why: 'What it says', since: 'Changed' },
  },
} as const
