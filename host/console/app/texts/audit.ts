const many = (count: number, one: string, more = `${one}s`) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : more}`

export const auditTexts = {
  what: 'Who changed what, newest first. Secrets are masked.',
  ofAnnex: 'Audit of Annex',
  ofAnnexWhat:
    'Who changed what in all organizations, and in Annex as a whole, newest first. Secrets are masked.',
  nothing: 'No change yet. Each change by a person, a token or a script is written here.',
  export: 'Export as lines of JSON',
  action: 'Action',
  subject: 'What, by its id',
  actor: 'By, by an id',
  columns: {
    at: 'When',
    action: 'Action',
    subject: 'What',
    actor: 'By',
    changes: 'Values',
    organization: 'Organization',
  },
  kinds: { person: 'person', token: 'token', script: 'script', system: 'Annex' },
  you: 'you',
  onlyThis: (id: string) => `Only changes by ${id}`,
  count: (count: number) => many(count, 'value'),
  noValues: 'none',
  wasNot: 'not there',
  request: 'Request',
  address: 'From the address',
  whole: 'Annex as a whole',
  kept: (days: number) => `Entries are kept for ${many(days, 'day')}.`,
  keptForEver: 'Entries are kept for ever.',
} as const
