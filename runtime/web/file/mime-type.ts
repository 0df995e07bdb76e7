/** MIME Sniffing standard, 4: a type with its parameters, in the order in which they were written. */
export type MimeType = { essence: string; parameters: Map<string, string> }

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const quotedTokens = /^[\t\x20-\x7e\x80-\xff]*$/

/** "Parse a MIME type"; `undefined` where the text is none. */
export const parseMimeType = (text: string): MimeType | undefined => {
  const input = trimHttpWhitespace(text)
  const semicolon = indexOrEnd(input, ';', 0)
  const slash = input.indexOf('/')
  if (slash === -1 || slash > semicolon) return undefined
  const type = input.slice(0, slash)
  const subtype = trimHttpWhitespace(input.slice(slash + 1, semicolon), 'end')
  if (!token.test(type) || !token.test(subtype)) return undefined
  const parameters = parseParameters(input, semicolon + 1)
  return { essence: `${type}/${subtype}`.toLowerCase(), parameters }
}

/** "Serialize a MIME type". */
export const writeMimeType = ({ essence, parameters }: MimeType): string => {
  let text = essence
  for (const [name, value] of parameters) {
    text += token.test(value) ? `;${name}=${value}` : `;${name}="${value.replace(/["\\]/g, '\\$&')}"`
  }
  return text
}

/**
 * Fetch standard, "extract a MIME type", of all values of Content-Type joined by commas: the last that is one
 * counts, and takes over the charset of one of the same essence before it.
 */
export const extractMimeType = (joined: string | null): MimeType | undefined => {
  let found: MimeType | undefined
  let charset: string | undefined
  for (const value of joined === null ? [] : splitOutsideQuotes(joined)) {
    const mimeType = parseMimeType(value)
    if (mimeType === undefined || mimeType.essence === '*/*') continue
    const own = mimeType.parameters.get('charset')
    if (mimeType.essence !== found?.essence) charset = own
    else if (own === undefined && charset !== undefined) mimeType.parameters.set('charset', charset)
    found = mimeType
  }
  return found
}

const parseParameters = (input: string, start: number): Map<string, string> => {
  const parameters = new Map<string, string>()
  let at = start
  while (at < input.length) {
    while (isWhitespace(input.charCodeAt(at))) at++
    const nameEnd = Math.min(indexOrEnd(input, ';', at), indexOrEnd(input, '=', at))
    const name = input.slice(at, nameEnd).toLowerCase()
    at = nameEnd + 1
    if (input[nameEnd] !== '=') continue
    let value: string
    if (input[at] === '"') {
      const quoted = readQuoted(input, at)
      value = quoted.value
      at = indexOrEnd(input, ';', quoted.end) + 1
    } else {
      const end = indexOrEnd(input, ';', at)
      value = trimHttpWhitespace(input.slice(at, end), 'end')
      at = end + 1
      if (value === '') continue
    }
    if (token.test(name) && quotedTokens.test(value) && !parameters.has(name)) parameters.set(name, value)
  }
  return parameters
}

/** Fetch standard, "collect an HTTP quoted string", with its value extracted. */
const readQuoted = (input: string, start: number): { value: string; end: number } => {
  let value = ''
  for (let at = start + 1; at < input.length; at++) {
    const character = input.charAt(at)
    if (character === '"') return { value, end: at + 1 }
    // A backslash at the very end stands for itself.
    if (character === '\\' && at + 1 < input.length) at += 1
    value += input.charAt(at)
  }
  return { value, end: input.length }
}

const splitOutsideQuotes = (joined: string): string[] => {
  const values: string[] = []
  let start = 0
  let at = 0
  while (at < joined.length) {
    if (joined[at] === ',') {
      values.push(joined.slice(start, at))
      start = at + 1
    }
    at = joined[at] === '"' ? readQuoted(joined, at).end : at + 1
  }
  values.push(joined.slice(start))
  return values
}

const indexOrEnd = (text: string, wanted: string, from: number): number => {
  const at = text.indexOf(wanted, from)
  return at === -1 ? text.length : at
}

const isWhitespace = (code: number): boolean =>
  code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d

/**
 * A text without the HTTP whitespace around it, or only behind it. No regular expression: a
 * search for whitespace before the end takes quadratic time in a long gap, and a stranger writes the header.
 */
export const trimHttpWhitespace = (text: string, side: 'both' | 'end' = 'both'): string => {
  let start = 0
  let end = text.length
  if (side === 'both') while (isWhitespace(text.charCodeAt(start))) start++
  while (end > start && isWhitespace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}
