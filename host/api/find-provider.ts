import { Readable } from 'node:stream'
import type { Context } from 'koa'
import { type Hops, hopsHeader } from '../egress/loop-guard.ts'
import { toRequestText } from '../endpoints/endpoint-headers.ts'
import { assertHasScript, type PreparedLevel, toContext } from '../installations/prepare-dispatch.ts'
import { isScriptsFailure, type ReportFailure } from '../installations/report-failure.ts'
import { providerOf } from '../oauth/guard-flows.ts'
import type { FlowLevel } from '../oauth/oauth-flows.ts'
import { endpointPath } from '../sandbox/level-ref.ts'
import { assertHandled, responseOf, type Sandboxes } from '../sandbox/sandboxes.ts'

export type FindProviderParts = {
  sandboxes: Sandboxes
  report: ReportFailure
  publicUrl: () => string
  readHops: Hops['read']
}

/**
 * Asks the script where a connection of its level leads, as any visitor may. No flow begins.
 *
 * @returns undefined when the script leads to no other server
 * @throws AnnexError the error that ended the dispatch
 */
export async function findProvider(
  { req, res, state: { requestId } }: Context,
  { level, path, prepared }: { level: FlowLevel; path: string; prepared: PreparedLevel },
  { sandboxes, report, publicUrl, readHops }: FindProviderParts,
): Promise<URL | undefined> {
  const { records, target, environment } = prepared
  assertHasScript(prepared)
  try {
    const outcome = await sandboxes.dispatch({
      ...{ target, environment, visitor: res },
      message: toRequestText('GET', publicUrl() + endpointPath(level) + path, ['accept', 'text/html']),
      context: toContext(records, { requestId, hops: readHops(String(req.headers[hopsHeader] ?? '')) }),
    })
    const { head, body } = responseOf(assertHandled(outcome))
    // A body that is a stream holds its dispatch until it is read or destroyed.
    if (body instanceof Readable) body.destroy()
    const provider = providerOf(head)
    return provider?.origin === new URL(publicUrl()).origin ? undefined : provider
  } catch (error) {
    if (isScriptsFailure(error)) report(records, requestId, error)
    throw error
  }
}
