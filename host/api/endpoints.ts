import type { Context, Middleware } from 'koa'
import { hopsHeader } from '../egress/loop-guard.ts'
import { AnnexError, isAnnexError } from '../errors/annex-error.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { type PreparedLevel, toContext } from '../installations/prepare-dispatch.ts'
import { endpointPath, endpointPrefix, parseEndpointPath } from '../sandbox/level.ts'
import { ScriptError } from '../sandbox/sandbox-errors.ts'
import { assertHandled, type DispatchRequest } from '../sandbox/sandboxes.ts'
import type { DispatchOutcome } from '../sandbox/target.ts'
import { toRequestText } from './endpoint-headers.ts'
import { sendError } from './errors.ts'
import type { RouteParts } from './parts.ts'
import { sendAnswer } from './send-answer.ts'
import { createTakeBody, type TakeBody } from './take-body.ts'
import { splitTarget, type Target } from './target.ts'

type Parts = Pick<
  RouteParts,
  'prepareDispatch' | 'sandboxes' | 'report' | 'publicUrl' | 'readHops' | 'limits'
> & { takeBody: TakeBody }

/**
 * The public endpoints (spec 4.1). Any method, path, query, headers and bytes go to the script's `fetch`, and
 * its answer goes back with status, headers and bytes, past Koa.
 */
export function answerEndpoints(given: Omit<Parts, 'takeBody'>): Middleware {
  const parts: Parts = { ...given, takeBody: createTakeBody() }
  return (context, next) => {
    const target = splitTarget(context.req.url ?? '/')
    return target.path.startsWith(endpointPrefix) ? answerVisit(context, target, parts) : next()
  }
}

async function answerVisit(context: Context, target: Target, parts: Parts): Promise<void> {
  const level = parseEndpointPath(target.path)
  if (level === undefined) throw new AnnexError('not_found', `There is no endpoint at ${target.path}.`)
  const { requestId } = context.state
  try {
    const prepared = await parts.prepareDispatch.prepare(level)
    if (prepared.records.manifest.script === undefined) throw hasNoScript(level.integration)
    const { result, body } = assertHandled(await dispatchRequest(context, target, prepared, parts))
    if (result.kind !== 'response') throw new AnnexError('script_failed', 'The script gave no response.')
    sendAnswer(context.res, { head: result.head, body, path: endpointPath(level), requestId })
    context.respond = false
  } catch (error) {
    // An `ExposableError` of the SDK: the script means its caller to read it.
    if (error instanceof ScriptError && error.script.exposeCode !== undefined) {
      const { exposeCode, message } = error.script
      sendError(context, exposeCode, { code: 'script_error', message })
      return
    }
    if (!isVisitorsDoing(error)) parts.report(level, requestId, error)
    throw error
  }
}

const hasNoScript = (integration: string): AnnexError =>
  new AnnexError('not_found', `The integration ${integration} has no script, so nothing answers here.`)

/** Not `async`: each function on the way that waits takes its time. */
function dispatchRequest(
  { req: request, res: response, state: { requestId } }: Context,
  target: Target,
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
      visitor: response,
      body,
    })
  const body = takeBody(request, limits.bodyBytes)
  return body instanceof Promise ? body.then(dispatch) : dispatch(body)
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
