import type { RequestHead } from '../../bridge.ts'
import { indexOfText, sliceText } from '../primordials.ts'

/** Reads the head of a request as the host writes it: see `bridge.ts`. JSON of the same takes three times as long. */
export const readRequestHead = (text: string): RequestHead => {
  let at = 0
  const line = (): string => {
    const found = indexOfText(text, '\n', at)
    const end = found < 0 ? text.length : found
    const read = sliceText(text, at, end)
    at = end + 1
    return read
  }
  const head: RequestHead = { method: line(), url: line(), headers: [] }
  let count = 0
  while (at < text.length) head.headers[count++] = [line(), line()]
  return head
}
