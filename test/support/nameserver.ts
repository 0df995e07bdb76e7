import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { TestContext } from 'node:test'

export type Nameserver = {
  /** As `Resolver.setServers` takes it. */
  address: string
  /** The names of the questions for IPv4 addresses so far. */
  asked: string[]
}

/** An IPv4 address, `none`: no such name, `silent`: no answer, `broken`: SERVFAIL. */
type Answer = string | 'none' | 'silent' | 'broken'

/** A real nameserver on UDP at 127.0.0.1, closed with the test. It knows of no IPv6 addresses. */
export async function startNameserver(
  t: TestContext,
  answerFor: (name: string, type: 'A' | 'AAAA') => Answer,
): Promise<Nameserver> {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, { address, port }) => {
    const { name, end } = readName(query)
    const type = query.readUInt16BE(end) === 28 ? 'AAAA' : 'A'
    if (type === 'A') asked.push(name)
    const answer = answerFor(name, type)
    if (answer === 'silent') return
    socket.send(toReply(query.subarray(0, end + 4), type, answer), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => void socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.'), end: at + 1 }
}

/** @param query its header and its one question */
function toReply(query: Buffer, type: 'A' | 'AAAA', answer: Answer): Buffer {
  const reply = Buffer.from(query)
  const code = { none: 3, broken: 2 }[answer] ?? 0
  const hasRecord = code === 0 && type === 'A'
  reply.writeUInt16BE(0x8180 | code, 2)
  reply.writeUInt16BE(hasRecord ? 1 : 0, 6)
  // No additional records.
  reply.writeUInt16BE(0, 10)
  if (!hasRecord) return reply
  // A pointer to the name, type A, class IN, no life time, 4 bytes.
  const head = [0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]
  return Buffer.concat([reply, Buffer.from([...head, ...answer.split('.').map(Number)])])
}
