const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** Texts of how often permissions are used. */
export const usedTexts = {
  used: (times: number, daysAgo: number) =>
    `Used ${times.toLocaleString('en')} ${times === 1 ? 'time' : 'times'} in the last 30 days, last ${relative.format(-daysAgo, 'day')}.`,
  unused: 'Not used in the last 30 days.',
  notYet: 'Not used so far. Uses are counted since',
  what: 'A permission that is not used can be left out of the next version. Uses are counted by day, in UTC.',
}
