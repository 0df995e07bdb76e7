const body = JSON.stringify({ type: 'ping', id: 'evt_1', text: 'hello' })

/** POSTs as the load does. @returns how many ms its answer took; throws when it is not 200 */
export async function ask(url: string): Promise<number> {
  const startedAt = performance.now()
  const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  const text = await response.text()
  const ms = performance.now() - startedAt
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${text.slice(0, 300)}`)
  return ms
}
