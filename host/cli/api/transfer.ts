import { Readable } from 'node:stream'
import { AnnexError, messageOf } from '../../errors/annex-error.ts'
import { ApiError } from './api-error.ts'
import type { FoundServer } from './find-server.ts'

/** What takes as long as it takes, and does not fit into memory. */
export type Transfer = {
  /** @returns the answer's body as it comes */
  download: (path: string, headers: Record<string, string>) => Promise<Readable>
  /** @returns the JSON of the answer */
  upload: <T>(path: string, headers: Record<string, string>, body: Readable) => Promise<T>
}

/** Each throws ApiError, or AnnexError `unavailable` when nobody answers. */
export function createTransfer({ url: base, token }: FoundServer): Transfer {
  return {
    async download(path, headers) {
      const { body } = await post(path, headers)
      return body === null ? Readable.from([]) : Readable.fromWeb(body)
    },
    async upload(path, headers, body) {
      return (await (await post(path, headers, body)).json()) as never
    },
  }

  async function post(path: string, headers: Record<string, string>, body?: Readable): Promise<Response> {
    let response: Response
    try {
      response = await fetch(new URL(path, base), {
        method: 'POST',
        headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
        ...(body && { body: Readable.toWeb(body), duplex: 'half' }),
        // The token is for this server alone.
        redirect: 'error',
      })
    } catch (cause) {
      const inner = cause instanceof Error ? cause.cause : undefined
      throw new AnnexError('unavailable', `${base} does not answer (${messageOf(inner ?? cause)}).`, {
        cause,
      })
    }
    if (response.ok) return response
    throw new ApiError(response.status, await response.json().catch(() => undefined))
  }
}
