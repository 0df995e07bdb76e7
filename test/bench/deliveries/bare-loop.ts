// No store: what Node, undici and the receiver give on this machine. All else is measured beside it.
import undici from 'undici/package.json' with { type: 'json' }
import { readGiven } from './child-calls.ts'
import { type OwedPost, postSigned, toPosts } from './post-signed.ts'
import { type Given, inFlight, serveSender } from './sender.ts'

const { urls } = readGiven<Given>()
const owed: OwedPost[] = []
let sending = 0
let wakePublisher = Promise.withResolvers<void>()

serveSender({
  about: `undici ${undici.version}, no store`,
  async owe(event) {
    owed.push(...toPosts(event, urls))
    while (sending < inFlight && owed.length > 0) void sendOwed()
    // Holds publishers back, or all events would be made before the first is sent.
    if (owed.length > inFlight) await wakePublisher.promise
  },
  countOwed: async () => owed.length + sending,
  close: async () => {},
})

async function sendOwed(): Promise<void> {
  sending++
  for (let post = owed.pop(); post !== undefined; post = owed.pop()) {
    await postSigned(post)
    if (owed.length > inFlight) continue
    wakePublisher.resolve()
    wakePublisher = Promise.withResolvers()
  }
  sending--
}
