/** An event of a stream of server-sent events. */
export type ServerEvent = { event: string; data: string; lastEventId: string; retryMs: number | undefined }

/** An answer that goes on and on is not an Annex's. */
const maxLine = 4 * 1024 * 1024

/**
 * Reads server-sent events as WHATWG HTML, section 9.2.6, has it.
 *
 * @param onPlace told an id that comes without an event: where whoever comes back goes on
 */
export async function* readServerEvents(
  body: AsyncIterable<Uint8Array>,
  onPlace: (id: string) => void = () => {},
): AsyncGenerator<ServerEvent> {
  let event = ''
  let data: string[] = []
  let lastEventId = ''
  let retryMs: number | undefined
  for await (const line of readLines(body)) {
    if (line === '') {
      if (data.length > 0) yield { event: event || 'message', data: data.join('\n'), lastEventId, retryMs }
      else if (lastEventId !== '') onPlace(lastEventId)
      event = ''
      data = []
      continue
    }
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'event') event = value
    else if (field === 'data') data.push(value)
    else if (field === 'id' && !value.includes('\0')) lastEventId = value
    else if (field === 'retry' && /^\d+$/.test(value)) retryMs = Number(value)
  }
}

/** Lines end with CR LF, LF or CR; what has no end when the stream is over is dropped. */
async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true })
    if (rest.length > maxLine) throw new Error('a line has no end')
    // A CR at the end may be half of a CR LF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    yield* lines
  }
}
