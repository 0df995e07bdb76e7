import type { Readable } from 'node:stream'
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import type { PlainError } from '../../runtime/bridge.ts'
import { createCheck } from '../../schemas/create-check.ts'
import { describeError } from '../../schemas/describe-error.ts'
import { explainStorageError } from '../db/explain-storage-error.ts'
import { AnnexError, isAnnexError } from '../errors/annex-error.ts'
import type { DispatchContext } from './target.ts'

/** What a sandbox may ask of the host: a name, the schema of its arguments, the scope it needs, the act. */
export type HostCall<Args = never> = {
  name: string
  args: object
  scope?: string
  run: (args: Args, given: HostCallGiven) => Promise<{ value: unknown; body?: HostCallBody }>
}

/** On whose behalf it is asked for, with what, and until when. `isOwed`: as in `HostCallAsked`. */
export type HostCallGiven = Pick<HostCallAsked, 'body' | 'isOwed'> & {
  context: DispatchContext
  signal: AbortSignal
}

/** Bytes, or where there are many or nobody knows how many, a stream of them. */
export type HostCallBody = Uint8Array | Readable

export type HostCallAnswer =
  | { ok: true; value: unknown; body?: HostCallBody }
  | { ok: false; error: PlainError }

/**
 * What a script asks for. `isOwed`: in the handling of an event or a task that has not come to its end, so that it is handled again
 * after a power cut which undoes what was committed last.
 */
export type HostCallAsked = { name: string; args: unknown; body: HostCallBody; isOwed: boolean }

export type RunHostCall = (
  call: HostCallAsked,
  context: DispatchContext,
  signal: AbortSignal,
) => Promise<HostCallAnswer>

/**
 * The boundary: everything that a sandbox can ask for is an entry of this table. Each call is checked by name,
 * then scope, then schema, and only then done. What goes back is text: an `AnnexError`'s message, or nothing.
 */
export function createHostCalls(table: readonly HostCall[], onDefect: (error: unknown) => void): RunHostCall {
  const entries = new Map<string, { call: HostCall; checkOf: () => ValidateFunction }>(
    table.map((call) => [call.name, { call, checkOf: createCheck(call.args, { strict: true }) }]),
  )
  return async ({ name, args, ...asked }, context, signal) => {
    try {
      const entry = entries.get(name)
      if (entry === undefined) throw new AnnexError('not_found', `The host has no call named ${name}.`)
      const { call, checkOf } = entry
      if (call.scope !== undefined) assertScope(context, call.scope)
      const check = checkOf()
      if (!check(args)) throw new AnnexError('bad_request', `${name}: ${textOf(check.errors ?? [])}.`)
      return { ok: true, ...(await call.run(args as never, { ...asked, context, signal })) }
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

/** @throws AnnexError `scope_missing`, naming the scope that the manifest would have to declare */
export function assertScope(
  context: { scopes: readonly string[]; integration: string },
  scope: string,
): void {
  if (context.scopes.includes(scope)) return
  throw new AnnexError(
    'scope_missing',
    `The integration ${context.integration} does not declare the scope ${scope}. Add it to "scopes" in its manifest.`,
    { details: [{ path: 'scopes', message: scope }] },
  )
}
