/** The SDK's access to the host during one dispatch. @internal */
export type HostAccess = {
  call(name: string, args: unknown): Promise<unknown>
  waitUntil(promise: unknown): void
}

/** The property in which the prelude finds an integration's dispatch function. @internal */
export const dispatchKey: unique symbol = Symbol.for('annex.dispatch') as never

/** Runs one dispatch. `undefined`: an event or a task was handled. @internal */
export type DispatchFunction = (
  event: { type: string; [field: string]: unknown },
  environment: () => never,
  request: Request | undefined,
  host: HostAccess,
) => Promise<Response | { value: unknown } | undefined>
