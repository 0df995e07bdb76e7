/** Says an event as a stream of server-sent events has it (WHATWG HTML, section 9.2). `data` becomes JSON on one line. */
export function toServerEvent(given: { event: string; data: unknown; id?: string }): string {
  const { event, data, id } = given
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

/** Keeps a quiet connection open: proxies end those on which nothing is said. */
export const keepAlive = ':\n\n'
