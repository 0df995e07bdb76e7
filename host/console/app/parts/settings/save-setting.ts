import { isApiError } from '../../../../../schemas/client.ts'
import { api } from '../../api.ts'
import { type EditedLevel, paramsOf, type ReadLevel, readLevel, toEdited } from '../../level.ts'
import { ownValue } from './settings.ts'

/** A value, or undefined: removes the one that is there. */
export type Edit = { value: unknown; label?: string }

/** What the person saw when the edit began. `step`: how many edits this page had made by then. */
export type Base = { etag: string; value: unknown; step: number }

/** The edits of this page, by the ETags before and after each. They are no edits of another person. */
const steps: { from: string; to: string }[] = []

export type Saved = { kind: 'saved'; edited: EditedLevel } | { kind: 'conflict'; theirs: Base }

const address = '/v1/integrations/{integration}/installations/{installation}/configuration/{property}'
/** Each further try means that another person has saved meanwhile. */
const mostTries = 10

export const baseOf = ({ level, etag }: ReadLevel, name: string): Base => ({
  etag,
  value: ownValue(level.configuration, name),
  step: steps.length,
})

/** The ETag after all edits that this page itself has made since. */
const followSteps = ({ etag, step }: Base): string =>
  steps.slice(step).reduce((now, { from, to }) => (from === now ? to : now), etag)

/**
 * Saves one setting as it was read. Where another setting has changed meanwhile it saves again by itself. Where this one has
 * changed, the person decides: a secret is shown as a mask, so any change may be a change of it.
 *
 * @throws ApiError, NoAnswerError
 */
export async function saveSetting(
  read: ReadLevel,
  { name, isSecret, base, edit }: { name: string; isSecret: boolean; base: Base; edit: Edit },
): Promise<Saved> {
  let from = base
  for (let tries = 1; ; tries++) {
    try {
      const etag = followSteps(from)
      const edited = await send(read, name, etag, edit)
      steps.push({ from: etag, to: edited.etag })
      return { kind: 'saved', edited }
    } catch (error) {
      if (!isApiError(error, 'precondition_failed')) throw error
      const theirs = baseOf(await readLevel(read.name), name)
      const isSame = theirs.value === base.value || theirs.value === edit.value
      if (isSecret || !isSame || tries === mostTries) return { kind: 'conflict', theirs }
      from = theirs
    }
  }
}

async function send(read: ReadLevel, property: string, etag: string, edit: Edit): Promise<EditedLevel> {
  const params = { ...paramsOf(read), property }
  const headers = { 'if-match': etag }
  if (edit.value === undefined) return toEdited(await api.read(`DELETE ${address}`, { params, headers }))
  return toEdited(await api.read(`PUT ${address}`, { params, headers, body: edit }))
}
