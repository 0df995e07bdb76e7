import type { Readable } from 'node:stream'
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import type { PlainError } from '../../runtime/bridge.ts'
import { createCheck } from '../../schemas/create-check.ts'
import { describeError } from '../../schemas/describe-error.ts'
import { explainStorageError } from '../db/errors.ts'
import type { OutboundRequests } from '../egress/outbound-requests.ts'
import { AnnexError, isAnnexError } from '../errors.ts'
import type { DispatchContext } from './target.ts'

/** A request of a sandbox to the host: its name, the schema of its arguments, the scope that it needs, the action. */
export type HostCall<Args = never> = {
  name: string
  args: object
  scope?: string
  /** Whether it leaves the host: such calls and their bytes are counted. `args` are not checked yet. */
  isEgress?: (args: unknown) => boolean
  run: (args: Args, given: HostCallGiven) => Promise<{ value: unknown; body?: HostCallBody }>
}

/** `signal` aborts when the dispatch ends. `requests` notes its outbound requests. */
export type HostCallGiven = Pick<HostCallAsked, 'body'> & {
  context: DispatchContext
  signal: AbortSignal
  requests?: OutboundRequests | undefined
}

/** Bytes, or a stream where they are many or of unknown length. */
export type HostCallBody = Uint8Array | Readable

export type HostCallAnswer =
  | { ok: true; value: unknown; body?: HostCallBody }
  | { ok: false; error: PlainError }

/** A call of a script. */
export type HostCallAsked = { name: string; args: unknown; body: HostCallBody }

export type HostCalls = {
  run: (
    call: HostCallAsked,
    context: DispatchContext,
    signal: AbortSignal,
    requests?: OutboundRequests,
  ) => Promise<HostCallAnswer>
  isEgress: (call: Pick<HostCallAsked, 'name' | 'args'>) => boolean
}

/**
 * The boundary: a sandbox reaches only the entries of this table. Each call is checked by name, then scope, then schema, before
 * it runs. Of an error only the text of an `AnnexError` goes back.
 */
export function createHostCalls(table: readonly HostCall[], onDefect: (error: unknown) => void): HostCalls {
  const entries = new Map<string, { call: HostCall; checkOf: () => ValidateFunction }>(
    table.map((call) => [call.name, { call, checkOf: createCheck(call.args, { strict: true }) }]),
  )
  return { run, isEgress: ({ name, args }) => entries.get(name)?.call.isEgress?.(args) ?? false }

  async function run(
    ...[{ name, args, ...asked }, context, signal, requests]: Parameters<HostCalls['run']>
  ): Promise<HostCallAnswer> {
    try {
      const entry = entries.get(name)
      if (entry === undefined) throw new AnnexError('not_found', `The host has no call named ${name}.`)
      const { call, checkOf } = entry
      if (call.scope !== undefined) assertScope(context, call.scope)
      const check = checkOf()
      if (!check(args)) throw new AnnexError('bad_request', `${name}: ${textOf(check.errors ?? [])}.`)
      return { ok: true, ...(await call.run(args as never, { ...asked, context, signal, requests })) }
    } catch (error) {
      if (isAnnexError(error)) return { ok: false, error: { name: error.code, message: error.message } }
      onDefect(error)
      const { code, message } =
        explainStorageError(error) ??
        new AnnexError('internal', 'The host could not do this. Its log holds why.')
      return { ok: false, error: { name: code, message } }
    }
  }
}

const textOf = (errors: readonly ErrorObject[]): string =>
  errors.map((error) => `arguments${error.instancePath} ${describeError(error)}`).join(', ')

/** @throws AnnexError `missing_scope`, which names the scope that the manifest has to declare */
export function assertScope(
  context: { scopes: readonly string[]; integration: string },
  scope: string,
): void {
  if (context.scopes.includes(scope)) return
  throw new AnnexError(
    'missing_scope',
    `The integration ${context.integration} does not declare the scope ${scope}. Add it to "scopes" in its manifest.`,
    { details: [{ path: '/scopes', message: scope }] },
  )
}
