/** Texts of all lists in pages. */
export const textsOfLists = {
  list: {
    filters: 'Filters',
    installation: 'Installation',
    anyInstallation: 'Any installation',
    time: 'Time',
    anyTime: 'At any time',
    periods: { hour: 'In the last hour', day: 'In the last day', week: 'In the last 7 days' },
    between: 'Between two times',
    after: 'From',
    before: 'Until',
    pager: 'Pages of the list',
    pages: {
      newest: { older: 'Older', newer: 'Newer', newest: 'Newest' },
      oldest: { older: 'Next page', newer: 'Page before', newest: 'First page' },
    },
    waiting: (count: number, isMore: boolean) =>
      `Show ${isMore ? 'more than ' : ''}${count.toLocaleString('en')} new`,
  },
} as const
