/** The titles of pages whose other texts are loaded with them. */
export const navigationTexts = {
  groups: {
    integrations: 'Integrations',
    work: 'What happens',
    organization: 'Organization',
    annex: 'All of Annex',
  },
  failedWork: 'Failed work',
  logs: 'Logs',
  places: 'Sites and spaces',
  tokens: 'Tokens',
  usage: 'Usage',
  versions: 'Versions',
  audit: 'Audit',
} as const
