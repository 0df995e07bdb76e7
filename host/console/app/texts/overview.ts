export const textsOfOverview = {
  overview: {
    title: 'Overview',
    works: (count: string) =>
      count === '1' ? 'The one installation works.' : `All ${count} installations work.`,
    worksPartly: (active: number, count: string) =>
      `${active.toLocaleString('en')} of ${count} ${count === '1' ? 'installation is' : 'installations are'} active.`,
    nothing: 'Nothing is installed yet.',
    needs: (count: number) => (count === 1 ? 'One thing needs you.' : `${count} things need you.`),
    problems: 'What needs you',
    ofHost: 'This Annex as a whole',
    elsewhere: 'Problems in other organizations:',
    ofOther: (name: string, count: number) => `${name} (${count})`,
    more: (count: number) => `Show ${count} more`,
    since: 'Since',
    command: 'In a terminal',
    open: {
      installation: 'Open the installation',
      receiver: 'Open the receiver',
      integration: 'Open the integration',
    },
    openFor: {
      waiting_version: 'See what is new',
      pending: 'Open its settings',
      failed_work: 'See what failed',
    },
    mended: (label: string) => `Done: ${label}.`,
    installations: 'Installations',
    noInstallations: 'No integration is installed in this organization yet.',
    few: (shown: number, count: string) => `${shown} of ${count} are shown, those that are not active first.`,
    toCatalogue: 'See the integrations',
    allInstallations: 'All installations',
    deliveries: 'Last deliveries',
    noDeliveries: 'No delivery yet. An installation queues one when an event comes.',
    allDeliveries: 'All deliveries',
    columns: { integration: 'Integration', state: 'State', why: 'What it says', since: 'Changed' },
  },
} as const
