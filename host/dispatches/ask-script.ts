import { Readable } from 'node:stream'
import type { DispatchMessage } from '../../runtime/bridge.ts'
import { assertShallow, isJsonObject } from '../assert-json.ts'
import { maxJsonAnswerBytes } from '../config/json-sizes.ts'
import { createId } from '../db/ids.ts'
import { AnnexError, isAnnexError } from '../errors.ts'
import type { PermissionUses } from '../installations/permission-uses.ts'
import { assertHasScript, type PreparedLevel, toContext } from '../installations/prepare-dispatch.ts'
import { isScriptsFailure, type ReportFailure } from '../installations/report-failure.ts'
import { assertScope } from '../sandbox/host-calls.ts'
import type { LevelRef } from '../sandbox/level-ref.ts'
import { assertHandled, responseOf, type Sandboxes } from '../sandbox/sandboxes.ts'
import type { DispatchOutcome, Visitor } from '../sandbox/target.ts'

export type AskParts = {
  sandboxes: Sandboxes
  report: ReportFailure
  onScopeUsed: PermissionUses['note']
}

/** An event whose answer goes back to the caller. */
export type Question = { type: string; [field: string]: unknown }

export type Asking = {
  requestId: string
  /** How many scripts of this Annex the request has passed. */
  hops: number
  /** The scope that the manifest must declare. */
  scope?: string
  /** Node's response for the answer: the script's signal aborts when its visitor leaves. */
  visitor?: Visitor
}

/**
 * Asks the script of a level, and reads its answer. The event names its level, as all events do. A failure, also one of
 * `read`, goes to the integration's log.
 *
 * @throws AnnexError `not_found` without a script or a handler, `missing_scope`, or the error that ended the dispatch
 */
export async function askScript<Answer>(
  { sandboxes, report, onScopeUsed }: AskParts,
  prepared: PreparedLevel,
  question: Question,
  { requestId, hops, scope, visitor }: Asking,
  read: (outcome: DispatchOutcome) => Answer | Promise<Answer>,
): Promise<Answer> {
  const { records, target, environment } = prepared
  assertHasScript(prepared)
  if (scope !== undefined) assertScope({ ...records.manifest, integration: target.integration }, scope)
  const eventId = createId('evt')
  const message: DispatchMessage = { event: { ...question, eventId, ...idsOf(records.level) } }
  const context = toContext(records, { requestId, hops, event: { id: eventId, type: question.type } })
  try {
    const outcome = await sandboxes.dispatch({
      ...{ target, environment, context, message: JSON.stringify(message) },
      ...(visitor && { visitor }),
    })
    const answer = await read(assertHasAnswer(assertHandled(outcome), question, target.integration))
    if (scope !== undefined && context.installationId !== undefined)
      onScopeUsed(context.installationId, scope)
    return answer
  } catch (error) {
    if (isScriptsFailure(error)) report(records, requestId, error)
    throw error
  }
}

function idsOf(level: LevelRef): Record<string, string> {
  if (level.kind === 'integration') return {}
  const { installationId } = level
  if (level.kind === 'installation') return { installationId }
  return { installationId, [`${level.kind}Id`]: level.placeId }
}

/** @throws AnnexError `not_found` when the script has no handler, or no component or content source of that name */
function assertHasAnswer(outcome: DispatchOutcome, { type }: Question, integration: string): DispatchOutcome {
  const status = outcome.result.kind === 'response' ? outcome.result.head.status : undefined
  const isNamed = type === 'ui_render' || type.startsWith('content_compute_')
  if (status !== 406 && !(status === 404 && isNamed)) return outcome
  destroyBody(outcome)
  throw new AnnexError(
    'not_found',
    status === 406
      ? `The script of ${integration} has no handler for "${type}".`
      : `The script of ${integration} has no component or content source of that name.`,
  )
}

/** An answer with its head and its whole body. */
export type WholeAnswer = { headers: ReadonlyMap<string, string>; body: Buffer }

/**
 * Reads an answer to its end.
 *
 * @throws AnnexError `script_failed` for another status than 2xx, `answer_too_large`
 */
export async function readWhole(outcome: DispatchOutcome, mostBytes: number): Promise<WholeAnswer> {
  const { head, body } = responseOf(outcome)
  const { status, headers } = head
  if (status > 299) {
    destroyBody(outcome)
    throw new AnnexError('script_failed', `The script answered with the status ${status}.`)
  }
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body instanceof Readable ? body : [body]) {
    bytes += piece.byteLength
    if (bytes > mostBytes) {
      destroyBody(outcome)
      throw new AnnexError('answer_too_large', `The script's answer is larger than ${mostBytes} bytes.`)
    }
    pieces.push(piece)
  }
  return {
    headers: new Map(headers.map(([name, value]) => [name.toLowerCase(), value])),
    body: Buffer.concat(pieces),
  }
}

/**
 * Reads an answer that is a JSON object. It is hostile input: a script may answer without the SDK.
 *
 * @throws AnnexError `script_failed`, `answer_too_large`
 */
export async function readJsonAnswer(
  outcome: DispatchOutcome,
): Promise<{ headers: WholeAnswer['headers']; value: Record<string, unknown> }> {
  const { headers, body } = await readWhole(outcome, maxJsonAnswerBytes)
  const value = toJson(body.toString('utf8'))
  if (isJsonObject(value)) return { headers, value }
  throw new AnnexError('script_failed', 'The script answered with something else than a JSON object.')
}

function toJson(text: string): unknown {
  try {
    assertShallow(text, "script's answer", mostLevels)
    return JSON.parse(text)
  } catch (cause) {
    const message = isAnnexError(cause) ? cause.message : "The script's answer is not JSON."
    throw new AnnexError('script_failed', message, { cause })
  }
}

/** A tree of elements has two levels of JSON for each of its own. */
const mostLevels = 256

/** A body that is a stream holds its dispatch until it is read or destroyed. */
function destroyBody({ body }: DispatchOutcome): void {
  if (body instanceof Readable) body.destroy()
}

/** The seconds of `max-age` in a Cache-Control header. 0 where the header has none, or forbids to store the answer. */
export function maxAgeOf(header = ''): number {
  if (/\b(?:no-store|no-cache|private)\b/i.test(header)) return 0
  return Number(/\bmax-age="?(\d{1,9})\b/i.exec(header)?.[1] ?? 0)
}
