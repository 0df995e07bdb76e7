import type { Context, Middleware } from 'koa'
import type { DispatchMessage, PlainError } from '../../runtime/bridge.ts'
import { AnnexError, isAnnexError } from '../errors/annex-error.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { toScriptHeaders } from '../http/endpoint-headers.ts'
import { takeBody } from '../http/read-body.ts'
import { sendAnswer } from '../http/send-answer.ts'
import { toContext } from '../installations/prepare-dispatch.ts'
import { hopsHeader } from '../net/request/loop-guard.ts'
import { endpointPath, endpointPrefix, type Level, parseEndpointPath } from '../sandbox/level.ts'
import { ScriptError } from '../sandbox/sandbox-errors.ts'
import { assertHandled } from '../sandbox/sandboxes.ts'
import type { DispatchOutcome } from '../sandbox/target.ts'
import type { RouteParts } from './parts.ts'

type Parts = Pick<
  RouteParts,
  'prepareDispatch' | 'sandboxes' | 'report' | 'publicUrl' | 'readHops' | 'limits'
>

/**
 * The public endpoints (spec 4.1). Any method, path, query, headers and bytes go to the script's `fetch`, and
 * its answer goes back with status, headers and bytes.
 */
export function answerEndpoints(parts: Parts): Middleware {
  return async (context, next) => {
    if (!context.path.startsWith(endpointPrefix)) return next()
    const level = parseEndpointPath(context.path)
    if (level === undefined) throw new AnnexError('not_found', `There is no endpoint at ${context.path}.`)
    try {
      answer(context, level, await dispatchRequest(context, level, parts))
    } catch (error) {
      if (error instanceof ScriptError && error.script.exposeCode !== undefined)
        return answerExposed(context, error.script)
      if (!isVisitorsDoing(error)) parts.report(level, context.state.requestId, error)
      throw error
    }
  }
}

async function dispatchRequest(context: Context, level: Level, parts: Parts): Promise<DispatchOutcome> {
  const { prepareDispatch, sandboxes, publicUrl, limits } = parts
  const { target, environment, records } = await prepareDispatch.prepare(level)
  const body = await takeBody(context.req, limits.bodyBytes)
  const request = {
    method: context.method,
    // RFC 9112, 3.2.2: a request may name the whole URL. The host in it is the visitor's word alone.
    url: publicUrl() + (context.url.startsWith('/') ? context.url : context.path + context.search),
    headers: toScriptHeaders(context.req.rawHeaders),
  }
  const dispatch = toContext(records, {
    requestId: context.state.requestId,
    hops: parts.readHops(context.get(hopsHeader)),
  })
  const message: DispatchMessage = { request }
  return assertHandled(
    await sandboxes.dispatch({
      ...{ target, environment, body },
      message: JSON.stringify(message),
      context: dispatch,
    }),
  )
}

function answer(context: Context, level: Level, { result, body }: DispatchOutcome): void {
  if (result.kind !== 'response') throw new AnnexError('script_failed', 'The script gave no response.')
  const { requestId } = context.state
  sendAnswer(context.res, { head: result.head, body, path: endpointPath(level), requestId })
  // Koa has nothing to add.
  context.respond = false
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
function answerExposed(context: Context, { message, exposeCode = 400 }: PlainError): void {
  context.status = exposeCode
  context.set('x-content-type-options', 'nosniff')
  context.body = { error: { code: 'script_error', message, requestId: context.state.requestId } }
}
