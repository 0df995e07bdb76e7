import { type ApiAccess, type ApiRequest, path, type Query, sendApiRequest } from './api-request.ts'

/** Questions about the content of an organization. Annex has no routes for them yet: they reject with an `ApiError` of 404. */
export const createQuestions = (request: ApiRequest, access: ApiAccess) => ({
  askInOrganization: (organization: string, body: object, query: Query = {}) =>
    request({ method: 'POST', path: path`/orgs/${organization}/ask`, body, query }),
  /** The answer in parts, as they come. */
  async *streamAskInOrganization(organization: string, query: Query): AsyncGenerator<unknown, void> {
    const options = { path: path`/orgs/${organization}/ask/stream`, query }
    const { body } = await sendApiRequest(access, options, 'text/event-stream')
    if (body !== null) yield* readEvents(body)
  },
})

/** The data of server-sent events, which is JSON. */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown, void> {
  let data = ''
  let rest = ''
  for await (const text of body.pipeThrough(
    new TextDecoderStream() as never,
  ) as unknown as AsyncIterable<string>) {
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.startsWith('data:')) data += `${line.slice(5)}\n`
      if (line !== '' || data === '') continue
      yield JSON.parse(data)
      data = ''
    }
  }
}
