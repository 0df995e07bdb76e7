import { post } from '../../wire-kinds.ts'

/** A post of the guest: see `PostToProcess` in `bridge.ts`. */
export type GuestPost = {
  kind: number
  id: number
  number: number
  text: string
  body: string | Uint8Array | undefined
}

/** Keeps the posts of a stretch until it is over. */
export type PostQueue = {
  push: (kind: unknown, id: unknown, number: unknown, text: unknown, body: unknown) => void
  /**
   * Handles all posts in order, and drops them. `beforeEnd` is called once, before the first post that may end a dispatch: the
   * host could not assign a log line after it.
   */
  drain: (handle: (post: GuestPost) => void, beforeEnd?: () => void) => void
}

/** More than any honest stretch posts. Above the first limit log lines are dropped, above the second all posts. */
const maxWithLogs = 2_000
const maxPosts = 20_000
const maxBytes = 64 * 1024 * 1024

/**
 * The guest calls `push` at any stack depth, so `push` only keeps the post. A write to the socket with a nearly used-up stack
 * left the stream broken for all other sandboxes.
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
      let isEnding = false
      for (const one of kept) {
        if (!isEnding && (one.kind === post.answer || one.kind === post.done)) {
          isEnding = true
          beforeEnd()
        }
        handle(one)
      }
      if (!isEnding) beforeEnd()
    },
  }
}

/** In bytes, or for text in characters. */
export const sizeOf = (body: string | Uint8Array | undefined): number =>
  body === undefined ? 0 : typeof body === 'string' ? body.length : body.byteLength

/** Other values fit in no frame, and are no ids. */
const toNumber = (value: unknown): number =>
  typeof value === 'number' && value >= 0 && value <= 0xffffffff ? Math.floor(value) : 0

const nothing = (): void => {}
