/** How the prelude lets the SDK reach the host, for the time of one dispatch. */
export type HostAccess = {
  call(name: string, args: unknown): Promise<unknown>
  waitUntil(promise: unknown): void
}

/** Where the prelude looks for an integration's dispatch function. */
export const dispatchKey: unique symbol = Symbol.for('annex.dispatch') as never

/** Runs one dispatch. `undefined` says that an event or a task was handled. */
export type DispatchFunction = (
  event: { type: string; [field: string]: unknown },
  environment: () => never,
  request: Request | undefined,
  host: HostAccess,
) => Promise<Response | { value: unknown } | undefined>
