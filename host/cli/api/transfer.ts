import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { AnnexError, messageOf } from '../../errors/annex-error.ts'
import { ApiError } from '../client.ts'
import type { FoundServer } from '../session.ts'

/** What takes as long as it takes, and does not fit into memory. */
export type Transfer = {
  /** @returns the answer's body as it comes */
  download: (path: string, headers: Record<string, string>) => Promise<Readable>
  /** @returns the JSON of the answer */
  upload: <T>(path: string, headers: Record<string, string>, body: Readable) => Promise<T>
}

/** How often a silent server's machine is asked whether it is there. */
const stillThereMs = 30_000

/** Each throws ApiError, or AnnexError `unavailable` when nobody answers. */
export function createTransfer({ url: base, token }: FoundServer): Transfer {
  return {
    download: post,
    async upload(path, headers, body) {
      return (await json(await post(path, headers, body))) as never
    },
  }

  async function post(
    path: string,
    headers: Record<string, string>,
    body?: Readable,
  ): Promise<IncomingMessage> {
    const authorization = token !== undefined && { authorization: `Bearer ${token}` }
    const response = await send(new URL(path, base), { ...headers, ...authorization }, body).catch(
      (cause) => {
        throw new AnnexError('unavailable', `${base} does not answer (${messageOf(cause)}).`, { cause })
      },
    )
    const { statusCode = 0 } = response
    if (statusCode >= 200 && statusCode < 300) return response
    // A server that refuses what is sent need not read it to its end.
    body?.destroy()
    const answer = await json(response).catch(() => undefined)
    response.destroy()
    throw new ApiError(statusCode, answer)
  }
}

/**
 * Not fetch, which gives up after 300 s without a byte: a server may work for longer before it answers, and between two parts
 * of its answer. A redirect is followed nowhere: the token is for this server alone.
 */
function send(url: URL, headers: Record<string, string>, body?: Readable): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestHttps : requestHttp
    const sent = request(url, { method: 'POST', headers }, resolve)
    // A machine that is gone says nothing, as one that works does.
    sent.on('socket', (socket) => socket.setKeepAlive(true, stillThereMs))
    sent.on('error', (error) => {
      body?.destroy()
      reject(error)
    })
    if (body === undefined) return void sent.end()
    body.on('error', (error) => sent.destroy(error))
    body.pipe(sent)
  })
}
