/**
 * What follows from a refused refresh. `ended`: the grant is over, until the account is connected again. `refused`: the fault
 * is of the client or its request, so an operator may mend it. `later`: the provider cannot answer now.
 */
export type Consequence = 'ended' | 'refused' | 'later'

/** Errors of RFC 6749, 6750 and 8628 and of known providers. */
const consequences: Readonly<Record<string, Consequence>> = {
  ...{ invalid_grant: 'ended', invalid_token: 'ended', expired_token: 'ended', access_denied: 'ended' },
  ...{ bad_refresh_token: 'ended', invalid_refresh_token: 'ended', token_revoked: 'ended' },
  ...{ token_expired: 'ended', interaction_required: 'ended', login_required: 'ended' },
  ...{ invalid_client: 'refused', unauthorized_client: 'refused', invalid_request: 'refused' },
  ...{ invalid_scope: 'refused', unsupported_grant_type: 'refused', invalid_client_id: 'refused' },
  ...{ incorrect_client_credentials: 'refused', bad_client_secret: 'refused' },
  ...{ temporarily_unavailable: 'later', server_error: 'later', slow_down: 'later' },
}

/** Names that providers give to a failure of their own, or to too many requests. */
const namesOfLater = /unavailable|internal|server|timeout|time_out|limit|throttl|busy|fatal|too_many/i

/** An error answer to a token request (RFC 6749, 5.2). Its text holds nothing else of the answer, which may have tokens. */
export class TokenError extends Error {
  readonly status: number
  /** Such as `invalid_grant`. */
  readonly reason: string | undefined

  constructor(status: number, reason: string | undefined) {
    super(`The provider answered ${status} to the token request: ${reason ?? 'without an error code'}`)
    this.name = 'TokenError'
    this.status = status
    this.reason = reason
  }

  get consequence(): Consequence {
    const { status, reason } = this
    const known =
      reason !== undefined && Object.hasOwn(consequences, reason) ? consequences[reason] : undefined
    if (known !== undefined) return known
    if (status >= 500 || [408, 425, 429].includes(status)) return 'later'
    if (reason !== undefined && namesOfLater.test(reason)) return 'later'
    // With 200 some providers report an error in the body alone.
    return status === 400 || status === 401 || (status < 300 && reason !== undefined) ? 'ended' : 'refused'
  }
}

/**
 * The code of an error answer: a text, the code of an error object, or that of `WWW-Authenticate` (RFC 6750, 3). A text with
 * digits may be a token, so it counts as no code.
 */
export const reasonOf = (answer: Record<string, unknown> | undefined, challenge: string | null) => {
  const { error } = answer ?? {}
  const inner = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {}
  const given = [error, inner.error, inner.code, inner.type, inner.status, inner.reason]
  const named = /\berror="?([\w.-]+)/.exec(challenge ?? '')?.[1]
  return [...given, named].find((one): one is string => typeof one === 'string' && code.test(one))
}

const code = /^[a-z][a-z_. -]{1,39}$/i

/** An answer names an error by a text, an object or a list. */
export const hasError = ({ error, errors }: Record<string, unknown>): boolean =>
  [error, errors].some(
    (one) => (typeof one === 'string' && one !== '') || (typeof one === 'object' && one !== null),
  )
