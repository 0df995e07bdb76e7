import type { Request } from '../fetch/request.ts'
import type { Response } from '../fetch/response.ts'
import { defineProperty, NativeError, reflectApply } from '../primordials.ts'
import { toPlainError } from './plain-error.ts'

/** The functions by which the SDK reaches the host during one dispatch. */
export type HostAccess = {
  /** Asks the host. Rejects with an Error that holds the host's message. */
  call(name: string, args: unknown): Promise<unknown>
  /** Keeps the dispatch open until the promise has settled. */
  waitUntil(promise: unknown): void
}

/** The value that `createIntegration` of the SDK leaves for the prelude, under `dispatchKey`. */
export type DispatchFunction = (
  event: { type: string; [field: string]: unknown },
  environment: () => { [field: string]: unknown },
  request: Request | undefined,
  host: HostAccess,
) => Promise<Response | { value: unknown } | undefined>

/** A symbol of the registry, as each script bundles its own SDK. */
export const dispatchKey = Symbol.for('annex.dispatch')

/**
 * Runs the bundle and takes its default export. Throws an Error of its own making, with bounded texts,
 * whatever the bundle threw: this error crosses the wall.
 */
export const loadDefinition = (bundle: (module: { exports: unknown }) => void): DispatchFunction => {
  try {
    const module: { exports: unknown } = { exports: {} }
    bundle(module)
    return dispatchOf(module.exports)
  } catch (thrown) {
    const plain = toPlainError(thrown)
    // isolated-vm makes an Error of it and drops its name: that goes in the message, where the process finds it.
    const error = new NativeError(plain.name === 'Error' ? plain.message : `${plain.name}: ${plain.message}`)
    if (plain.stack !== undefined) defineProperty(error, 'stack', { value: plain.stack })
    throw error
  }
}

const dispatchOf = (exports: unknown): DispatchFunction => {
  const definition = (exports as { default?: unknown } | undefined)?.default ?? exports
  const dispatch = (definition as { [dispatchKey]?: unknown } | undefined)?.[dispatchKey]
  if (typeof dispatch === 'function') {
    return (event, environment, request, host) =>
      reflectApply(dispatch, definition, [event, environment, request, host])
  }
  throw new NativeError(
    'The entry script does not export an integration. Write: export default createIntegration({ … })',
  )
}
