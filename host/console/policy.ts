/**
 * The policy of the console's page. Public endpoints share this URL origin: `/x/` refuses to answer a script, a style or a
 * worker of this page, so `'self'` means the console's own files.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self' https:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': contentSecurityPolicy,
  // A page that the console opened, or that opened it, holds no reference to its window.
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  // The page names the files of this build: a cached one would name those of an older build.
  'cache-control': 'no-cache',
}

export const fileHeaders: Readonly<Record<string, string>> = {
  // The name of a file has a hash of its content.
  'cache-control': 'public, max-age=31536000, immutable',
  vary: 'accept-encoding',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
}
