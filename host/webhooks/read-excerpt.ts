/**
 * The beginning of an answer as text, for people to look at. Stops after `maxBytes` and leaves the rest, which
 * ends the connection when there is a rest. A body that breaks off or comes too slowly gives what there was.
 *
 * Bytes that are not UTF-8 become U+FFFD, and so does NUL, which PostgreSQL's text cannot hold. A character that
 * the cut would split is left out.
 */
export async function readExcerpt(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let left = maxBytes
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk.subarray(0, left), { stream: true })
      left -= chunk.length
      if (left < 0) return plain(text)
    }
    text += decoder.decode()
  } catch {
    // The status has been received; how the body ended changes nothing.
  }
  return plain(text)
}

const plain = (text: string): string => text.replaceAll('\0', '\uFFFD')
