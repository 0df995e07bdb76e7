import type { Attempt } from '../../../../schemas/generated/api/deliveries.ts'
import { toPhases } from '../deliveries/phases.ts'
import { texts } from '../texts.ts'

const wide = 1_000
/** A phase of a tenth of a millisecond is still seen. */
const thinnest = 4

/** The time of an attempt as a bar of its phases, with the numbers beside it. */
export function PhaseBar({ attempt, longestMs }: { attempt: Attempt; longestMs: number }) {
  const phases = toPhases(attempt, longestMs)
  // An attempt that reached no phase has nothing to compare.
  if (phases.every(({ name }) => name === 'rest')) {
    return <p class="small muted">{texts.delivery.total(attempt.durationMs)}</p>
  }
  return (
    <div class="phases">
      <svg viewBox={`0 0 ${wide} 8`} preserveAspectRatio="none" aria-hidden="true">
        {phases.map(({ name, at, width }) => (
          <rect
            key={name}
            class={name}
            x={at * wide}
            y="0"
            width={Math.max(width * wide, thinnest)}
            height="8"
          />
        ))}
      </svg>
      <p class="small muted">
        {phases.map(({ name, ms }) => (
          <span key={name} class={`phase ${name}`}>
            {texts.delivery.phase(texts.delivery.phases[name], ms)}
          </span>
        ))}
        <span>{texts.delivery.total(attempt.durationMs)}</span>
        {attempt.timing?.reused && <span>{texts.delivery.reused}</span>}
      </p>
    </div>
  )
}
