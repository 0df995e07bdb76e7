import type { Receiver } from '../../../../../schemas/generated/api/receivers.ts'
import { Time } from '../../parts/time.tsx'
import { texts } from '../../texts.ts'

/** What the state of a receiver means for its deliveries, with the times that belong to it. */
export function Health({ receiver: { state, failingSince, heldBackUntil } }: { receiver: Receiver }) {
  if (state !== 'active') return <>{texts.receiver.sentences[state]}</>
  if (heldBackUntil !== undefined) {
    return (
      <>
        {texts.receiver.sentences.heldBack} <Time at={heldBackUntil} />
      </>
    )
  }
  if (failingSince !== undefined) {
    return (
      <>
        {texts.receiver.sentences.failing} <Time at={failingSince} />
      </>
    )
  }
  return <>{texts.receiver.sentences.active}</>
}

/** A receiver that fails is still active: its deliveries are tried. */
export const toChip = ({ state, failingSince }: Receiver): string =>
  state === 'active' && failingSince !== undefined ? 'failing' : state
