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
    older: 'Older',
    newer: 'Newer',
    newest: 'Newest',
    waiting: (count: number, isMore: boolean) =>
      `Show ${isMore ? 'more than ' : ''}${count.toLocaleString('en')} new`,
  },
} as const
