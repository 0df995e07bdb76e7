import type { OAuthAnswer } from './oauth-config.ts'

/** A provider's error answer to a token request (RFC 6749, 5.2). */
export class TokenError extends Error {
  readonly status: number
  /** Such as `invalid_grant`: the user or the provider has ended the grant. */
  readonly reason: string | undefined

  constructor(status: number, text: string) {
    super(`The provider answered ${status} to the token request: ${text.slice(0, 500)}`)
    this.name = 'TokenError'
    this.status = status
    this.reason = /"error"\s*:\s*"(\w{1,64})"/.exec(text)?.[1]
  }
}

/** How long to wait before each further try. */
const pausesMs = [250, 1_000]

/** Requests a token (RFC 6749, 4.1.3 and 6). Throws TokenError where the provider gives none. */
export const requestToken = async (url: string, fields: Record<string, string>): Promise<OAuthAnswer> => {
  const { status, text } = await postForm(url, fields)
  const answer = parse(text)
  if (answer === undefined) throw new TokenError(status, `no JSON: ${text.slice(0, 200)}`)
  // Some providers report an error with status 200.
  if (typeof answer.error === 'string' && answer.access_token === undefined) throw new TokenError(400, text)
  return answer
}

type Answered = { status: number; text: string }

/**
 * Posts a form. A request that fails on its way, and one that the provider cannot answer now, is sent again. Throws
 * TokenError for an error answer.
 */
export const postForm = async (url: string, fields: Record<string, string>): Promise<Answered> => {
  for (const pauseMs of pausesMs) {
    try {
      return await postOnce(url, fields)
    } catch (error) {
      if (error instanceof TokenError && error.status < 500 && error.status !== 429) throw error
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  return postOnce(url, fields)
}

const postOnce = async (url: string, fields: Record<string, string>): Promise<Answered> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: `${new URLSearchParams(fields)}`,
  })
  const text = await response.text()
  if (!response.ok) throw new TokenError(response.status, text)
  return { status: response.status, text }
}

const parse = (text: string): OAuthAnswer | undefined => {
  try {
    const answer: unknown = JSON.parse(text)
    return typeof answer === 'object' && answer !== null ? (answer as OAuthAnswer) : undefined
  } catch {
    return undefined
  }
}
