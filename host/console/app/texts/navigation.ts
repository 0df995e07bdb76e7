/** The titles of pages whose other texts are loaded with them. */
export const navigationTexts = {
  groups: {
    integrations: 'Integrations',
    work: 'What happens',
    organization: 'Organization',
  },
  failedWork: 'Failed work',
  logs: 'Logs',
} as const
