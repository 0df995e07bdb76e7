import { post } from '../../wire-kinds.ts'

/** What the guest said: see `PostToProcess` in `bridge.ts`. */
export type GuestPost = {
  kind: number
  id: number
  number: number
  text: string
  body: string | Uint8Array | undefined
}

/** What the guest has said in a stretch, kept until the stretch is over. */
export type PostQueue = {
  push: (kind: unknown, id: unknown, number: unknown, text: unknown, body: unknown) => void
  /**
   * Hands over all posts, in their order, and forgets them. `beforeEnd` is called once, before the first that may end a
   * dispatch: the host would not know whose a line is that comes behind it.
   */
  drain: (handle: (post: GuestPost) => void, beforeEnd?: () => void) => void
}

/** More than any honest stretch says. Beyond the first, log lines are dropped; beyond the second, everything. */
const maxWithLogs = 2_000
const maxPosts = 20_000
const maxBytes = 64 * 1024 * 1024

/**
 * The guest calls `push` from wherever it is, also with its stack nearly used up: nothing may be done there but to
 * keep the post. Writing to the socket at such a depth once left the stream broken for every other sandbox.
 */
export function createPostQueue(): PostQueue {
  let posts: GuestPost[] = []
  let bytesKept = 0
  return {
    push(kind, id, number, text = '', body) {
      if (typeof kind !== 'number' || typeof text !== 'string') return
      if (posts.length >= maxPosts || bytesKept > maxBytes) return
      if (posts.length >= maxWithLogs && kind === post.log) return
      const bytes =
        typeof body === 'string' ? body : body instanceof ArrayBuffer ? new Uint8Array(body) : undefined
      bytesKept += text.length + sizeOf(bytes)
      posts.push({ kind, id: toNumber(id), number: toNumber(number), text, body: bytes })
    },
    drain(handle, beforeEnd = nothing) {
      if (posts.length === 0) return beforeEnd()
      const kept = posts
      posts = []
      bytesKept = 0
      let isTold = false
      for (const one of kept) {
        if (!isTold && (one.kind === post.answer || one.kind === post.done)) {
          isTold = true
          beforeEnd()
        }
        handle(one)
      }
      if (!isTold) beforeEnd()
    },
  }
}

/** In bytes, or for text in characters. */
export const sizeOf = (body: string | Uint8Array | undefined): number =>
  body === undefined ? 0 : typeof body === 'string' ? body.length : body.byteLength

/** What a frame can carry: anything else is nobody's id. */
const toNumber = (value: unknown): number =>
  typeof value === 'number' && value >= 0 && value <= 0xffffffff ? Math.floor(value) : 0

const nothing = (): void => {}
