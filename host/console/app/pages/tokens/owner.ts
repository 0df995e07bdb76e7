import type { MadeToken, NewToken, TokenList } from '../../../../../schemas/generated/api/tokens.ts'
import { api } from '../../api.ts'
import { useLoad } from '../../use-load.ts'

/** Whose tokens a page shows: those of an organization, or those of Annex as a whole. */
export type Owner = {
  list: (at: { limit: number; page?: string }, signal: AbortSignal) => Promise<TokenList>
  make: (body: Pick<NewToken, 'label' | 'expiresAt' | 'role'>) => Promise<MadeToken>
  revoke: (token: string) => Promise<unknown>
  operations: { list: string; make: string; revoke: string }
  /** False: each token has the role of operators. */
  hasRoles: boolean
  /** The emails of members by their ids. */
  useMembers: () => ReadonlyMap<string, string>
}

export const ofOrganization = (org: string): Owner => ({
  list: (query, signal) => api.call('GET /v1/orgs/{org}/tokens', { params: { org }, query, signal }),
  make: (body) => api.call('POST /v1/orgs/{org}/tokens', { params: { org }, body }),
  revoke: (token) => api.call('DELETE /v1/orgs/{org}/tokens/{token}', { params: { org, token } }),
  operations: {
    list: 'listOrganizationTokens',
    make: 'createOrganizationToken',
    revoke: 'revokeOrganizationToken',
  },
  hasRoles: true,
  useMembers() {
    const { value } = useLoad(`members of tokens ${org}`, (signal) =>
      api.call('GET /v1/orgs/{org}/members', { params: { org }, query: { limit: 1_000 }, signal }),
    )
    return new Map(value?.items.map(({ id, email }) => [id, email]))
  },
})

export const ofAnnex: Owner = {
  list: (query, signal) => api.call('GET /v1/tokens', { query, signal }),
  make: ({ role: _, ...body }) => api.call('POST /v1/tokens', { body }),
  revoke: (token) => api.call('DELETE /v1/tokens/{token}', { params: { token } }),
  operations: { list: 'listOperatorTokens', make: 'createOperatorToken', revoke: 'revokeOperatorToken' },
  hasRoles: false,
  useMembers: () => new Map(),
}
