import type { IncomingMessage } from 'node:http'
import { ownAddressOf } from '../http/own-address.ts'

const toPolicy = (ownFiles: string): string =>
  [
    "default-src 'none'",
    `script-src ${ownFiles}`,
    `style-src ${ownFiles}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-src 'self' https:",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

/**
 * Where the console's files are. Public endpoints share the URL origin, so `'self'` has their answers, too, and `/x/` refuses
 * those that a page would run. It knows them by headers that browsers send over https and to this machine alone. Elsewhere the
 * policy names the folder. It has no form for an IPv6 address.
 */
function ownFilesFor(request: IncomingMessage): string {
  const { host = '' } = request.headers
  const isTold = request.headers['sec-fetch-dest'] !== undefined || ownAddressOf(request, '').isLoopback
  return isTold || !/^[\w.-]+(?::\d+)?$/.test(host) ? "'self'" : `${host}/assets/`
}

export const pageHeadersFor = (request: IncomingMessage): Readonly<Record<string, string>> => ({
  'content-security-policy': toPolicy(ownFilesFor(request)),
  // A page that the console opened, or that opened it, holds no reference to its window.
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  // The page names the files of this build: a cached one would name those of an older build.
  'cache-control': 'no-cache',
})

export const fileHeaders: Readonly<Record<string, string>> = {
  // The name of a file has a hash of its content.
  'cache-control': 'public, max-age=31536000, immutable',
  vary: 'accept-encoding',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
}
