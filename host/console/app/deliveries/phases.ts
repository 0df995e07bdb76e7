import type { Attempt } from '../../../../schemas/generated/api/deliveries.ts'

export type PhaseName = 'dns' | 'connect' | 'tls' | 'answer' | 'rest'
/** `at` and `width`: parts of the longest attempt, from 0 to 1. */
export type Phase = { name: PhaseName; ms: number; at: number; width: number }

/**
 * The time of an attempt, phase by phase. `answer` is the wait from sending to the first byte, and `rest` is what no phase
 * accounts for: the body of the answer, or a wait that ended without one.
 *
 * @param longestMs of the attempts that are drawn below each other
 */
export function toPhases(
  { durationMs, timing = {} }: Pick<Attempt, 'durationMs' | 'timing'>,
  longestMs: number,
): Phase[] {
  const { dnsMs = 0, connectMs = 0, tlsMs = 0, firstByteMs = 0 } = timing
  const known: [PhaseName, number][] = [
    ['dns', dnsMs],
    ['connect', connectMs],
    ['tls', tlsMs],
    ['answer', firstByteMs],
  ]
  const sum = known.reduce((all, [, ms]) => all + ms, 0)
  // Phases have tenths of milliseconds, an attempt has whole ones.
  const restMs = durationMs - sum >= 1 ? durationMs - sum : 0
  const scale = Math.max(longestMs, sum + restMs, 1)
  let at = 0
  return [...known, ['rest', restMs] as const]
    .filter(([, ms]) => ms > 0)
    .map(([name, ms]) => {
      const phase = { name, ms, at: at / scale, width: ms / scale }
      at += ms
      return phase
    })
}
