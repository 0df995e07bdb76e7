import { type Child, startChild } from './child-calls.ts'
import type { ReceiverMethods } from './receiver.ts'

export type Receiver = Child<ReceiverMethods> & { urls: string[] }

/** Starts a receiver with so many receivers, each with a port of its own. They answer 200 at once. */
export async function startReceiver(receivers: number): Promise<Receiver> {
  const child = await startChild<ReceiverMethods>(new URL('receiver.ts', import.meta.url), { receivers })
  return { ...child, urls: await child.call('urls', undefined) }
}
