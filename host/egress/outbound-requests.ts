import type { ErrorCode } from '../errors.ts'

/**
 * The outbound requests of one dispatch, for its receipt. Each redirect is a request of its own, as another server may answer it.
 * The script chooses all texts, and people of the organization read them.
 */
export type OutboundRequests = { kept: OutboundRequest[]; leftOut: number }

type OutboundRequest = {
  method: string
  /** Host and port, or the scheme alone of a URL that is neither http nor https. */
  host: string
  /** Without the query, which may hold secrets. */
  path: string
  /** The path was longer. */
  isCut: boolean
  /** It went to the API of Annex, and did not leave the host. */
  isOwn: boolean
  startedAtMs: number
  /** Until the head of the answer, or the error. */
  ms: number | undefined
  status: number | undefined
  /** The id that the API of Annex gave to it. */
  requestId: string | undefined
  error: { code: ErrorCode; message: string } | undefined
}

/** What a receipt stores of an outbound request, as JSON. */
export type StoredRequest = {
  method: string
  host: string
  path: string
  own?: boolean
  startedAt: number
  ms?: number
  status?: number
  request?: string
  error?: { code: string; message: string }
}

export type StoredRequests = { requests: StoredRequest[]; leftOut: number }

/** Outbound requests of one dispatch in its receipt: the first ones. */
export const keptRequests = 50
/** Of the path and the error in a receipt. */
const maxText = 200
/** Kept until the secrets in it are known. */
const maxPath = 500
const maxMethod = 20
/** A receipt of a hostile script stays small. */
export const storedChars = 8_000

/** Notes the requests of one fetch: the first one, and its redirects. */
export type NoteRequest = {
  begin: (method: string, url: string) => void
  answered: (status: number, requestId?: string) => void
  failed: (error: { code: ErrorCode; message: string }) => void
}

/** @param isOwn the fetch is for the API of Annex */
export function createNote(requests: OutboundRequests, isOwn: boolean): NoteRequest {
  let current: OutboundRequest | undefined
  let beganMs = 0
  const passed = () => performance.now() - beganMs
  return {
    begin(method, url) {
      current = undefined
      const parsed = URL.parse(url)
      if (parsed === null) return
      if (requests.kept.length >= keptRequests) {
        requests.leftOut += 1
        return
      }
      beganMs = performance.now()
      current = toRequest(method, parsed, isOwn)
      requests.kept.push(current)
    },
    answered(status, requestId) {
      if (current === undefined) return
      current.ms = passed()
      current.status = status
      if (isOwn) current.requestId = requestId
    },
    failed({ code, message }) {
      if (current === undefined) return
      current.ms ??= passed()
      current.error = { code, message }
    },
  }
}

function toRequest(method: string, { protocol, host, pathname }: URL, isOwn: boolean): OutboundRequest {
  const isHttp = protocol === 'http:' || protocol === 'https:'
  return {
    method: method.slice(0, maxMethod).toUpperCase(),
    host: isHttp ? copied(host) : protocol,
    // The path of `data:` and `blob:` is a content.
    path: isHttp ? copied(pathname.slice(0, maxPath)) : '',
    isCut: isHttp && pathname.length > maxPath,
    isOwn,
    startedAtMs: Date.now(),
    ms: undefined,
    status: undefined,
    requestId: undefined,
    error: undefined,
  }
}

/** A part of a text keeps the whole text in memory: here a URL with a long query. Both parts are ASCII. */
const copied = (text: string): string => Buffer.from(text, 'latin1').toString('latin1')

/** Writes `[secret NAME]` for a secret. `isCut`: the text may end in the middle of one. */
type Redact = (text: string, isCut?: boolean) => string

/** The requests as JSON, without secrets. Null when there are none. */
export function toStoredText(requests: OutboundRequests | undefined, redact: Redact): string | null {
  if (requests === undefined || requests.kept.length === 0) return null
  const stored: StoredRequest[] = []
  let chars = 0
  for (const request of requests.kept) {
    const shown = toStored(request, redact)
    chars += JSON.stringify(shown).length + 1
    if (chars > storedChars) break
    stored.push(shown)
  }
  const leftOut = requests.leftOut + requests.kept.length - stored.length
  return JSON.stringify({ requests: stored, leftOut } satisfies StoredRequests)
}

function toStored(request: OutboundRequest, redact: Redact): StoredRequest {
  const { method, host, isOwn, startedAtMs, ms, status, requestId, error } = request
  return {
    method: clip(redact(method)),
    host: clip(redact(host)),
    path: clip(toShownPath(request, redact)),
    ...(isOwn && { own: true }),
    startedAt: startedAtMs,
    ...(ms !== undefined && { ms: Math.round(ms) }),
    ...(status !== undefined && { status }),
    ...(requestId !== undefined && { request: requestId }),
    ...(error !== undefined && { error: { code: error.code, message: clip(redact(error.message)) } }),
  }
}

/** A secret may be partly escaped: a URL escapes fewer characters than `encodeURIComponent`. */
function toShownPath({ path, isCut, isOwn }: OutboundRequest, redact: Redact): string {
  // Tokens that are unknown here are recognized as a whole only.
  const whole = isCut ? path.slice(0, path.lastIndexOf('/') + 1) : path
  const shown = redact(whole, isCut)
  const plain = decoded(whole)
  const shownPlain = plain === whole ? plain : redact(plain, isCut)
  const known = shownPlain === plain ? shown : shownPlain
  const best = isOwn ? known : known.split('/').map(withoutKey).join('/')
  return isCut ? `${best}…` : best
}

/**
 * Some services take a key in the path, and a script may have it from elsewhere than its settings. A long segment with capital
 * and small letters and digits may be such a key: only its beginning is kept.
 */
const withoutKey = (segment: string): string =>
  segment.length >= shortestKey && !segment.includes('[secret ') && isMixed(decoded(segment))
    ? `${segment.slice(0, 4)}…`
    : segment

const shortestKey = 20
const isMixed = (text: string): boolean => /[A-Z]/.test(text) && /[a-z]/.test(text) && /\d/.test(text)

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const clip = (text: string): string => (text.length > maxText ? `${text.slice(0, maxText)}…` : text)
