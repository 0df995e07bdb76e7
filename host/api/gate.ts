import type { RequestListener } from 'node:http'

/** Requests that come while Annex starts wait until it can answer, instead of finding nobody. */
export type Gate = {
  handle: RequestListener
  /** From now on `handle` answers, those that wait first. */
  open: (handle: RequestListener) => void
  /** Annex does not start: those that wait are broken off. */
  close: () => void
}

export function createGate(): Gate {
  const opened = Promise.withResolvers<RequestListener>()
  let answer: RequestListener = (request, response) => {
    opened.promise.then(
      (handle) => {
        // Whoever has left says so no more.
        if (!response.closed) handle(request, response)
      },
      () => response.destroy(),
    )
  }
  opened.promise.catch(() => {})
  return {
    handle: (request, response) => answer(request, response),
    open(handle) {
      answer = handle
      opened.resolve(handle)
    },
    close: () => opened.reject(),
  }
}
