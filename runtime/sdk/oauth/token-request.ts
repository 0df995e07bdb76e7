import type { OAuthAnswer } from './oauth-config.ts'
import { hasError, reasonOf, TokenError } from './token-error.ts'

/** How long to wait before each further try. */
const pausesMs = [250, 1_000]

/** Requests a token (RFC 6749, 4.1.3 and 6). Throws TokenError where the provider gives none. */
export const requestToken = async (url: string, fields: Record<string, string>): Promise<OAuthAnswer> => {
  const { status, answer } = await postForm(url, fields)
  if (answer !== undefined) return answer
  throw new Error(`The provider answered ${status} to the token request, with neither JSON nor a form`)
}

type Answered = { status: number; answer: OAuthAnswer | undefined }

/**
 * Posts a form. A request that fails on its way, and one that the provider cannot answer now, is sent again. Throws
 * TokenError for an error answer.
 */
export const postForm = async (url: string, fields: Record<string, string>): Promise<Answered> => {
  for (const pauseMs of pausesMs) {
    try {
      return await postOnce(url, fields)
    } catch (error) {
      if (error instanceof TokenError && error.consequence !== 'later') throw error
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
  const answer = parseAnswer(await response.text(), response.headers.get('content-type'))
  const { ok, status } = response
  // Some providers report an error with status 200.
  const isError = answer !== undefined && hasError(answer) && !hasToken(answer)
  if (!ok || isError) throw new TokenError(status, reasonOf(answer, response.headers.get('www-authenticate')))
  return { status, answer }
}

const hasToken = ({ access_token: token }: OAuthAnswer): boolean => typeof token === 'string' && token !== ''

/** Some providers answer with a form, under any content type. An error of the parser would quote the answer. */
const parseAnswer = (text: string, contentType: string | null): OAuthAnswer | undefined => {
  try {
    const answer: unknown = JSON.parse(text)
    const isObject = typeof answer === 'object' && answer !== null && !Array.isArray(answer)
    return isObject ? (answer as OAuthAnswer) : undefined
  } catch {
    const form = Object.fromEntries(new URLSearchParams(text.trim()))
    const isForm = /^\s*application\/x-www-form-urlencoded\b/i.test(contentType ?? '')
    return isForm || 'access_token' in form || 'error' in form ? form : undefined
  }
}
