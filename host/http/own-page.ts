import type { IncomingMessage } from 'node:http'
import { AnnexError } from '../errors.ts'
import { type OwnAddress, ownAddressOf } from './own-address.ts'

const reading: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD'])

/**
 * Lets through what one of Annex's own pages asks: another site could use the cookie of a person who is signed in, or sign a
 * browser in to an account of its own. Browsers write `Sec-Fetch-Site` and `Origin`, and no page can.
 *
 * @param given.maySendNeither true for a program without a session, which has neither header
 * @throws AnnexError `forbidden`
 */
export function assertOwnPage(
  request: IncomingMessage,
  publicUrl: string,
  given: { maySendNeither?: boolean } = {},
): void {
  const { headers, method } = request
  const site = headers['sec-fetch-site']
  const address = ownAddressOf(request, publicUrl)
  const isOwn =
    site !== undefined
      ? site === 'same-origin'
      : headers.origin === undefined
        ? given.maySendNeither || reading.has(method)
        : isOwnOrigin(headers.origin, headers.host, address)
  if (!isOwn) {
    const text = `A session is for the pages of ${address.origin}. This request is of another site, or was not sent by a page.`
    throw new AnnexError('forbidden', text)
  }
  if (reading.has(method) || !hasBody(request)) return
  // A form of another site cannot send this type.
  if (/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) return
  throw new AnnexError('forbidden', 'A session sends its bodies with Content-Type: application/json.')
}

/** Beside an HTTP PUBLIC_URL, the same Annex may be open at other addresses. Beside HTTPS, HTTP is what an attacker can write. */
const isOwnOrigin = (origin: string, host: string | undefined, address: OwnAddress): boolean =>
  origin === address.origin || (!address.isHttps && origin === `http://${host}`)

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
