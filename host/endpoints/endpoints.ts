import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { Context, Middleware } from 'koa'
import type { LRUCache } from 'lru-cache'
import { createLru } from '../cache.ts'
import { type Hops, hopsHeader } from '../egress/loop-guard.ts'
import { AnnexError, isAnnexError } from '../errors.ts'
import { createReadOrStream, type ReadOrStream } from '../http/body.ts'
import { nowhere, type RateLimits } from '../http/rate-limits.ts'
import { type RequestTarget, splitRequestTarget } from '../http/request-target.ts'
import { OtherSpelling } from '../installations/other-spelling.ts'
import {
  assertHasScript,
  type PrepareDispatch,
  type PreparedLevel,
  toContext,
} from '../installations/prepare-dispatch.ts'
import { type FailedDispatch, isScriptsFailure, type ReportFailure } from '../installations/report-failure.ts'
import { createFlowGuard, type FlowGuard, type FlowGuardParts, type Routed } from '../oauth/guard-flows.ts'
import { endpointPath, endpointPrefix, type LevelRef, parseEndpointPath } from '../sandbox/level-ref.ts'
import { assertHandled, responseOf, type Sandboxes } from '../sandbox/sandboxes.ts'
import type { DispatchOutcome } from '../sandbox/target.ts'
import { toRequestText } from './endpoint-headers.ts'
import { refuseLoads } from './refused-loads.ts'
import { type ScriptAnswer, sendAnswer } from './send-answer.ts'

export type EndpointParts = {
  prepareDispatch: PrepareDispatch
  sandboxes: Sandboxes
  report: ReportFailure
  publicUrl: () => string
  /** Reads from a signed header how many scripts a request has passed. */
  readHops: Hops['read']
  limits: { bodyBytes: number }
  rateLimits: RateLimits
} & FlowGuardParts

type Parts = EndpointParts & { readOrStream: ReadOrStream; guard: FlowGuard; found: LRUCache<string, true> }

/** Public endpoints (spec 4.1): a request under `/x/` with any method, headers and bytes goes to the script's `fetch`. */
export function answerEndpoints(given: EndpointParts): Middleware {
  const parts: Parts = {
    ...given,
    readOrStream: createReadOrStream(),
    guard: createFlowGuard(given),
    found: createLru(mostFound),
  }
  return (context, next) => {
    const requestTarget = splitRequestTarget(context.req.url ?? '/')
    return requestTarget.path.startsWith(endpointPrefix)
      ? answerEndpoint(context, requestTarget, parts)
      : next()
  }
}

/**
 * From a request to its answer. The answer keeps the script's status, headers and bytes, and bypasses Koa.
 *
 * @throws AnnexError `load_refused`, `rate_limited`, `not_found`, OtherSpelling, `no_version`, `installation_paused`, `installation_suspended`,
 *   `body_too_large`, `bad_request`, `flow_refused`, or the error that ended the dispatch
 */
async function answerEndpoint(context: Context, requestTarget: RequestTarget, parts: Parts): Promise<void> {
  refuseLoads(context.req)
  const { guard } = parts
  const named = parseEndpointPath(requestTarget.path)
  const { counter, failed } = await chooseCounter(context, named, parts)
  const counting = parts.rateLimits.countVisitor(context, counter)
  if (counting !== undefined) await counting
  // Before the guard of flows, which compares addresses.
  if (failed instanceof OtherSpelling) throw failed
  if (named === undefined) throw new AnnexError('not_found', `There is no endpoint at ${requestTarget.path}.`)
  let level = named
  let ran: FailedDispatch | undefined
  try {
    const routed = await guard.route(context, { level, requestTarget })
    level = routed.level
    const prepared = await parts.prepareDispatch.prepare(level)
    ran = prepared.records
    assertHasScript(prepared)
    const body = await parts.readOrStream(context.req, parts.limits.bodyBytes)
    await guard.refuseForm(routed, body)
    const outcome = await dispatchRequest(
      context,
      { requestTarget: routed.requestTarget, prepared, body },
      parts,
    )
    const answer = toAnswer(context, routed, outcome)
    answer.head = await guardHead(context, routed, answer, guard)
    sendAnswer(context.res, answer)
    context.respond = false
  } catch (error) {
    if (isScriptsFailure(error)) parts.report(ran ?? { level }, context.state.requestId, error)
    throw error
  }
}

/** The endpoints that were there when they were asked for last. */
const mostFound = 10_000

/**
 * The counter of a request. An endpoint that does not exist counts with all others: a visitor can name any number of
 * them. Above that limit the visitor's guesses read nothing from the database, so that only endpoints are served that someone has
 * found before.
 */
async function chooseCounter(
  context: Context,
  level: LevelRef | undefined,
  { prepareDispatch, rateLimits, found }: Parts,
): Promise<{ counter: string; failed?: unknown }> {
  if (level === undefined) return { counter: nowhere }
  const path = endpointPath(level)
  if (!found.has(path) && (await rateLimits.isSpent(context, nowhere))) return { counter: nowhere }
  const failed = await prepareDispatch.prepare(level).then(
    () => undefined,
    (error: unknown) => error,
  )
  if (isAnnexError(failed) && failed.code === 'not_found') {
    found.delete(path)
    return { counter: nowhere, failed }
  }
  found.set(path, true)
  return { counter: path }
}

function dispatchRequest(
  { req: request, res: visitor, state: { requestId } }: Context,
  given: { requestTarget: RequestTarget; prepared: PreparedLevel; body: Buffer | IncomingMessage },
  { sandboxes, publicUrl, readHops }: Parts,
): Promise<DispatchOutcome> {
  const { requestTarget, prepared, body } = given
  // A request target may name any host. Only the public URL is trusted.
  const url = publicUrl() + requestTarget.path + requestTarget.search
  const hops = readHops(String(request.headers[hopsHeader] ?? ''))
  return sandboxes.dispatch({
    target: prepared.target,
    environment: prepared.environment,
    message: toRequestText(request.method ?? 'GET', url, request.rawHeaders),
    context: toContext(prepared.records, { requestId, hops }),
    visitor,
    body,
  })
}

/** @throws ScriptError when the script threw; AnnexError `script_failed` when it gave no response */
function toAnswer(
  { state: { requestId } }: Context,
  { level, cookies }: Routed,
  outcome: DispatchOutcome,
): ScriptAnswer {
  return { ...responseOf(assertHandled(outcome)), level, requestId, cookies }
}

async function guardHead(context: Context, routed: Routed, { head, body }: ScriptAnswer, guard: FlowGuard) {
  try {
    return await guard.leave(context, routed, head)
  } catch (error) {
    if (body instanceof Readable) body.destroy()
    throw error
  }
}
