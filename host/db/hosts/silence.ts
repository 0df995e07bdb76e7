import type { HostRow } from '../queries/hosts.ts'

const silentMs = 5_000
/** Whoever has not looked for so long cannot tell how long the others have been silent. */
const blindMs = 2_500

/** Tells which hosts have been silent for 5 s. */
export type Silence = {
  /**
   * To be called each second with the hosts as they are listed.
   *
   * @param monotonicMs this machine's monotonic time: neither its clock nor the database's can make a host silent
   */
  find: (hosts: readonly HostRow[], monotonicMs: number) => HostRow[]
}

export function createSilence(): Silence {
  /** What each host said last, and when that was first heard here. */
  let heard = new Map<string, { seenAt: number; sinceMs: number }>()
  let lookedAt = Number.NEGATIVE_INFINITY
  return {
    find(hosts, monotonicMs) {
      const wasBlind = monotonicMs - lookedAt > blindMs
      lookedAt = monotonicMs
      const before = heard
      heard = new Map()
      return hosts.filter(({ id, seenAt }) => {
        const last = before.get(id)
        const isSame = !wasBlind && last?.seenAt === seenAt
        const sinceMs = isSame && last !== undefined ? last.sinceMs : monotonicMs
        heard.set(id, { seenAt, sinceMs })
        return monotonicMs - sinceMs >= silentMs
      })
    },
  }
}
