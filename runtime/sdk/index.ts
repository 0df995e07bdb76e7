/** The module that an integration imports as `@annex/runtime`. */

/// <reference path="./raw-text.d.ts" />
import type {} from './body.ts'

export { ApiError } from './api/api-error.ts'
export type { ApiClient } from './api/client.ts'
export type {
  ContentInput,
  ContentInput as ContentSourceInput,
  ContentSource,
} from './content-source.ts'
export { createContentSource } from './content-source.ts'
export type { ContextOf, RuntimeCallback, RuntimeContext, Task } from './context.ts'
export type {
  EventHandler,
  EventHandler as EventCallback,
  FetchHandler,
  FetchHandler as FetchEventCallback,
  IntegrationDefinition,
  PublishedScriptHandler,
  PublishedScriptHandler as FetchPublishScriptEventCallback,
  TaskHandler,
  VisitorAuthenticationHandler,
  VisitorAuthenticationHandler as FetchVisitorAuthenticationEventCallback,
} from './definition.ts'
export type {
  EnvironmentOf,
  Installation,
  InstallationStatus,
  IntegrationTypes,
  RuntimeEnvironment,
} from './environment.ts'
export type { AnyEvent, EventByType, EventOf, EventType, KnownEvents, Visitor } from './events.ts'
export { ExposableError } from './exposable-error.ts'
export { createIntegration, type Integration } from './integration.ts'
export { Logger } from './logger.ts'
export type {
  OAuthAnswer,
  OAuthConfig,
  OAuthConfiguration,
  OAuthCredentials,
  OAuthResponse,
} from './oauth/oauth-config.ts'
export { defaultOAuthExtractCredentials } from './oauth/oauth-config.ts'
export { createOAuthHandler } from './oauth/oauth-handler.ts'
export { getOAuthToken } from './oauth/oauth-token.ts'
export { type EndingEvent, revokeOAuthTokens } from './oauth/revoke-tokens.ts'
export { type LevelStorage, type Storage, StorageConflict, type StoredValue } from './storage.ts'
export {
  type Action,
  type Component,
  type ComponentDefinition,
  type ComponentElement,
  createComponent,
  type RenderContext,
} from './ui/component.ts'
export type { Child, Element } from './ui/elements.ts'
