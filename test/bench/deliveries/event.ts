/** What every side sends: the same type, the same size. */
export const eventType = 'space_content_updated'

const bodyBytes = 1024

export type BenchedEvent = { type: typeof eventType; eventId: string; padding: string }

/** An event whose JSON has 1 KiB. `run` keeps the ids of one run apart from those of the next. */
export function makeEvent(run: string, number: number): BenchedEvent {
  const event = { type: eventType, eventId: `evt_${run}_${number}`, padding: '' } as const
  return { ...event, padding: 'x'.repeat(bodyBytes - JSON.stringify(event).length) }
}
