/** What the guest has said in a stretch, kept until the stretch is over. */
export type PostQueue = {
  push: (text: unknown, bytes: unknown) => void
  /** Hands over all posts, in their order, and forgets them. */
  drain: (handle: (text: string, body: Uint8Array | undefined) => void) => void
}

/** More than any honest stretch says. Beyond the first, log lines are dropped; beyond the second, everything. */
const maxWithLogs = 2_000
const maxPosts = 20_000
const maxBytes = 64 * 1024 * 1024
/** How the prelude begins a log line: looking further would mean to parse it, here, at any depth of the stack. */
const logStart = '{"kind":"log"'

/**
 * The guest calls `push` from wherever it is, also with its stack nearly used up: nothing may be done there but to
 * keep the post. Writing to the socket at such a depth once left the stream broken for every other sandbox.
 */
export function createPostQueue(): PostQueue {
  let posts: [text: string, body: Uint8Array | undefined][] = []
  let bytesKept = 0
  return {
    push(text, bytes) {
      if (typeof text !== 'string' || posts.length >= maxPosts || bytesKept > maxBytes) return
      if (posts.length >= maxWithLogs && text.startsWith(logStart)) return
      const body = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : undefined
      bytesKept += text.length + (body?.byteLength ?? 0)
      posts.push([text, body])
    },
    drain(handle) {
      const kept = posts
      posts = []
      bytesKept = 0
      for (const [text, body] of kept) handle(text, body)
    },
  }
}
