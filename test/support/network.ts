import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What is between Annex and a PostgreSQL. */
export type Network = {
  /** Of the server, through it. */
  url: string
  /** From now on nothing passes over the connections that there are, and no side hears of that. @returns their number */
  fallSilent: () => number
  /** How many of the silent connections one side has closed. */
  givenUp: () => number
  /** Ends all connections, and refuses new ones. */
  cut: () => Promise<void>
  mend: () => Promise<void>
  close: () => Promise<void>
}

export async function startNetwork(server: string): Promise<Network> {
  const { port, hostname } = new URL(server)
  const open = new Set<Socket>()
  const silent = new Set<Socket>()
  let givenUp = 0
  const listener = createServer((client) => {
    const behind = connect(Number(port), hostname)
    open.add(client)
    client.on('data', (bytes) => silent.has(client) || behind.write(bytes))
    behind.on('data', (bytes) => silent.has(client) || client.write(bytes))
    behind.on('close', () => client.destroy()).on('error', () => client.destroy())
    client
      .on('error', () => {})
      .on('close', () => {
        if (silent.delete(client)) givenUp += 1
        open.delete(client)
        behind.destroy()
      })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const own = (listener.address() as AddressInfo).port
  const url = new URL(server)
  url.port = String(own)
  const cut = async () => {
    const closed = listener.listening ? once(listener, 'close') : undefined
    listener.close()
    for (const client of open) client.destroy()
    await closed
  }
  return {
    url: url.href,
    fallSilent() {
      for (const client of open) silent.add(client)
      return silent.size
    },
    givenUp: () => givenUp,
    cut,
    async mend() {
      listener.listen(own, '127.0.0.1')
      await once(listener, 'listening')
    },
    close: cut,
  }
}
