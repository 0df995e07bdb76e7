/** The package has no types of its own. The parts that `startOidcProvider` uses. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export default class Provider {
    constructor(issuer: string, configuration: object)
    Grant: {
      new (given: {
        accountId: string
        clientId: string
      }): { addOIDCScope(scope: string): void; save(): Promise<string> }
      find(id: string): Promise<{ destroy(): Promise<void> } | undefined>
    }
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
    on(
      event: 'grant.success' | 'grant.revoked',
      listen: (context: { oidc: { params?: Record<string, unknown> } }) => void,
    ): void
    interactionDetails(
      request: IncomingMessage,
      response: ServerResponse,
    ): Promise<{
      prompt: { name: string }
      params: Record<string, unknown>
      session?: { accountId: string }
    }>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
      options?: object,
    ): Promise<void>
  }
}
