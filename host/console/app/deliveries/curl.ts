export type SentRequest = {
  /** `POST` where it is left out. */
  method?: string
  url: string
  headers: readonly (readonly string[])[]
  body?: string | undefined
}

/** Linux takes no argument of 128 KiB or more. `printf` is part of the shell and has no such limit. */
const longestArgument = 100_000
/** curl writes these itself. */
const ofTransport: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
])
/** curl adds these where a request has none. A name without a value leaves it out. */
const ofCurl = ['Accept', 'Content-Type', 'Expect', 'User-Agent']

const separator = ' \\\n  '

/** The request as a command that sends these headers and no other. */
export function toExactCurl(request: SentRequest): string {
  const names = new Set(request.headers.map(([name = '']) => name.toLowerCase()))
  return toCurl(
    request,
    ofCurl.filter((name) => !names.has(name.toLowerCase())),
  )
}

/**
 * The request as a command for a POSIX shell. `$ANNEX_TOKEN` stands in the place of a bearer token.
 *
 * @param without names of headers that curl would add
 */
export function toCurl(
  { method = 'POST', url, headers, body }: SentRequest,
  without: readonly string[] = [],
): string {
  const sent = headers.filter(([name = '']) => !ofTransport.has(name.toLowerCase()))
  const lines = [
    // Without --globoff curl reads brackets of an address as patterns.
    `curl --globoff ${quote(url)}`,
    // curl itself sends a GET, and a POST with a body.
    ...(method === (body === undefined ? 'GET' : 'POST') ? [] : [`--request ${quote(method)}`]),
    ...sent.map(([name = '', value = '']) => `--header ${quoteHeader(name, value)}`),
    ...without.map((name) => `--header ${quote(`${name}:`)}`),
  ]
  if (body === undefined) return lines.join(separator)
  const isLong = new TextEncoder().encode(body).length > longestArgument
  const command = [...lines, isLong ? '--data-binary @-' : `--data-raw ${quote(body)}`].join(separator)
  return isLong ? `printf %s ${quote(body)} | ${command}` : command
}

function quoteHeader(name: string, value: string): string {
  const scheme = name.toLowerCase() === 'authorization' && /^bearer\s/i.exec(value)?.[0].trim()
  if (scheme) return `"${name}: ${scheme} $ANNEX_TOKEN"`
  // With a colon curl takes a header without a value for one to leave out.
  return quote(value === '' ? `${name};` : `${name}: ${value}`)
}

/**
 * Quotes a text for a POSIX shell. A terminal acts on control characters of a text that is pasted, as on a carriage return:
 * `printf` makes them.
 */
export function quote(text: string): string {
  const parts = text.split(/((?:(?!\n)\p{Cc})+)/u)
  const quoted = parts.map((part, at) => {
    if (part === '') return ''
    return at % 2 === 1 ? `"$(printf '${toOctal(part)}')"` : `'${part.replaceAll("'", `'\\''`)}'`
  })
  return quoted.join('') || "''"
}

const toOctal = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
