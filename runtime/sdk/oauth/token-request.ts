import type { OAuthAnswer } from './oauth-config.ts'

/** RFC 6749, 4.1.3 and 6: posts the form and reads the answer. Throws where the provider refuses. */
export const requestToken = async (url: string, fields: Record<string, string>): Promise<OAuthAnswer> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: `${new URLSearchParams(fields)}`,
  })
  const text = await response.text()
  if (!response.ok) {
    throw new Error(`The provider answered ${response.status} to the token request: ${text.slice(0, 500)}`)
  }
  try {
    return JSON.parse(text) as OAuthAnswer
  } catch {
    throw new Error(
      `The provider answered the token request with text that is no JSON: ${text.slice(0, 200)}`,
    )
  }
}
