import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PlainError } from '../../runtime/bridge.ts'
import { createId } from '../db/ids.ts'
import { AnnexError, isAnnexError } from '../errors/annex-error.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { toRequestText } from '../http/endpoint-headers.ts'
import { sendAnswer } from '../http/send-answer.ts'
import { type OnDefect, sendError, toErrorAnswer } from '../http/send-error.ts'
import { createTakeBody, type TakeBody } from '../http/take-body.ts'
import type { Target } from '../http/target.ts'
import { type PreparedLevel, toContext } from '../installations/prepare-dispatch.ts'
import { hopsHeader } from '../net/request/loop-guard.ts'
import { endpointPath, type Level, parseEndpointPath } from '../sandbox/level.ts'
import { ScriptError } from '../sandbox/sandbox-errors.ts'
import { assertHandled, type DispatchRequest } from '../sandbox/sandboxes.ts'
import type { DispatchOutcome } from '../sandbox/target.ts'
import type { RouteParts } from './parts.ts'

type Parts = Pick<
  RouteParts,
  'prepareDispatch' | 'sandboxes' | 'report' | 'publicUrl' | 'readHops' | 'limits'
> & { takeBody: TakeBody }

/** One request to a public endpoint. */
type Visit = { request: IncomingMessage; response: ServerResponse; target: Target; requestId: string }

/**
 * The public endpoints (spec 4.1). Any method, path, query, headers and bytes go to the script's `fetch`, and
 * its answer goes back with status, headers and bytes. They stand beside Koa, and not in it: there is nothing that a
 * context would do for them, and to make one takes a tenth of the host's time for a request.
 */
export function answerEndpoints(
  given: Omit<Parts, 'takeBody'>,
  onDefect: OnDefect,
): (request: IncomingMessage, response: ServerResponse, target: Target) => void {
  const parts: Parts = { ...given, takeBody: createTakeBody() }
  return (request, response, target) => {
    const visit = { request, response, target, requestId: createId('req') }
    answerVisit(visit, parts).catch((error) => {
      sendError(response, toErrorAnswer(error, visit.requestId, onDefect))
    })
  }
}

async function answerVisit(visit: Visit, parts: Parts): Promise<void> {
  const { path } = visit.target
  const level = parseEndpointPath(path)
  if (level === undefined) throw new AnnexError('not_found', `There is no endpoint at ${path}.`)
  try {
    const prepared = await parts.prepareDispatch.prepare(level)
    answer(visit, level, assertHandled(await dispatchRequest(visit, prepared, parts)))
  } catch (error) {
    if (error instanceof ScriptError && error.script.exposeCode !== undefined)
      return answerExposed(visit, error.script)
    if (!isVisitorsDoing(error)) parts.report(level, visit.requestId, error)
    throw error
  }
}

/** Not `async`: each function on the way that waits takes its time. */
function dispatchRequest(
  { request, target, requestId }: Visit,
  prepared: PreparedLevel,
  { sandboxes, takeBody, publicUrl, readHops, limits }: Parts,
): Promise<DispatchOutcome> {
  // The host that a target may name is the visitor's word alone.
  const url = publicUrl() + target.path + target.search
  const message = toRequestText(request.method ?? 'GET', url, request.rawHeaders)
  const hops = readHops(String(request.headers[hopsHeader] ?? ''))
  const dispatch = (body: NonNullable<DispatchRequest['body']>): Promise<DispatchOutcome> =>
    sandboxes.dispatch({
      target: prepared.target,
      environment: prepared.environment,
      message,
      context: toContext(prepared.records, { requestId, hops }),
      body,
    })
  const body = takeBody(request, limits.bodyBytes)
  return body instanceof Promise ? body.then(dispatch) : dispatch(body)
}

function answer({ response, requestId }: Visit, level: Level, { result, body }: DispatchOutcome): void {
  if (result.kind !== 'response') throw new AnnexError('script_failed', 'The script gave no response.')
  sendAnswer(response, { head: result.head, body, path: endpointPath(level), requestId })
}

/**
 * What has nothing to do with the script. Whoever sends requests to any path could fill an integration's log with
 * it, and push out the lines that its author looks for.
 */
function isVisitorsDoing(error: unknown): boolean {
  return isAnnexError(error) && unreported.has(error.code)
}

const unreported: ReadonlySet<ErrorCode> = new Set([
  'bad_request',
  'body_too_large',
  'installation_paused',
  'installation_suspended',
  'no_version',
  'not_found',
  'sandbox_busy',
])

/** An `ExposableError` of the SDK: the script means its caller to read it. */
function answerExposed({ response, requestId }: Visit, { message, exposeCode = 400 }: PlainError): void {
  sendError(response, { status: exposeCode, error: { code: 'script_error', message, requestId } })
}
