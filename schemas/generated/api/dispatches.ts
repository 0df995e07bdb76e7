// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { SettingOptions } from './connections.ts'

/**
 * A component to render.
 */
export interface Render {
  componentId: string
  /**
   * Properties of the block.
   */
  props?: {
    [k: string]: unknown
  }
  /**
   * The state of the last render.
   */
  state?: {
    [k: string]: unknown
  }
  /**
   * The place where the component is shown, such as `type`, `theme` and `editable`. `organizationId`, `installationId`, `siteId`, `spaceId` and `user` are dropped: Annex alone says them.
   */
  context?: {
    [k: string]: unknown
  }
  /**
   * What a person did.
   */
  action?: {
    action: string
    [k: string]: unknown
  }
}

/**
 * Where the choices of a select are, and which of them are asked for.
 */
export interface ComponentOptions {
  /**
   * An address of the endpoint, or a path below it.
   */
  source: string
  /**
   * A text that the labels match.
   */
  q?: string
  /**
   * `next` of the page before.
   */
  page?: string
}

/**
 * A rendered component.
 */
export type Rendered = RenderedElement | CompletedElement

/**
 * An element tree, with the state and properties behind it.
 */
export interface RenderedElement {
  type: 'element'
  state: {
    [k: string]: unknown
  }
  props: {
    [k: string]: unknown
  }
  /**
   * The tree.
   */
  element:
    | {
        [k: string]: unknown
      }
    | unknown[]
    | null
  /**
   * Where a page reads each picture of another host, by its address in the tree. A page sends no request to that host.
   */
  pictures?: {
    [k: string]: string
  }
}

/**
 * The end of a modal. `returnValue` is what the modal returns.
 */
export interface CompletedElement {
  type: 'complete'
  [k: string]: unknown
}

/**
 * The input of a content source.
 */
export interface Compute {
  /**
   * Properties of the block or page that uses the source.
   */
  props?: {
    [k: string]: unknown
  }
  /**
   * The records that the content is computed from.
   */
  dependencies?: {
    [k: string]: unknown
  }
}

/**
 * A tree of pages, as the script made it.
 */
export interface ComputedRevision {
  [k: string]: unknown
}

/**
 * The document of one page, or null.
 */
export interface ComputedDocument {
  document: {
    [k: string]: unknown
  } | null
}

export interface GetComponentPictureQuery {
  /**
   * Where the picture is.
   */
  address?: string
  /**
   * When the address ends, in seconds.
   */
  until?: string
  /**
   * Annex signs the address by it.
   */
  key?: string
}

export interface AuthenticateVisitorQuery {
  /**
   * The path of the page that the visitor asked for. Without its first `/`, it begins with a plain word. Empty: the first page.
   */
  location?: string
  /**
   * `logout` for a visitor who signs out.
   */
  action?: 'logout'
}

export interface DispatchesOperations {
  renderInstallationComponent: {
    roles: 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string }
    query: object
    body: Render
    answer: Rendered
  }
  renderSiteInstallationComponent: {
    roles: 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string; site: string }
    query: object
    body: Render
    answer: Rendered
  }
  renderSpaceInstallationComponent: {
    roles: 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string; space: string }
    query: object
    body: Render
    answer: Rendered
  }
  getComponentPicture: {
    roles: 'anyone'
    params: { integration: string; installation: string }
    query: GetComponentPictureQuery
    body: undefined
    answer: void
  }
  listInstallationComponentOptions: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string }
    query: object
    body: ComponentOptions
    answer: SettingOptions
  }
  listSiteInstallationComponentOptions: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; site: string }
    query: object
    body: ComponentOptions
    answer: SettingOptions
  }
  listSpaceInstallationComponentOptions: {
    roles: 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; space: string }
    query: object
    body: ComponentOptions
    answer: SettingOptions
  }
  computeInstallationRevision: {
    roles: 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string; source: string }
    query: object
    body: Compute
    answer: ComputedRevision
  }
  computeSiteInstallationRevision: {
    roles: 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string; site: string; source: string }
    query: object
    body: Compute
    answer: ComputedRevision
  }
  computeSpaceInstallationRevision: {
    roles: 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string; space: string; source: string }
    query: object
    body: Compute
    answer: ComputedRevision
  }
  computeInstallationDocument: {
    roles: 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string; source: string }
    query: object
    body: Compute
    answer: ComputedDocument
  }
  computeSiteInstallationDocument: {
    roles: 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string; site: string; source: string }
    query: object
    body: Compute
    answer: ComputedDocument
  }
  computeSpaceInstallationDocument: {
    roles: 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: { integration: string; installation: string; space: string; source: string }
    query: object
    body: Compute
    answer: ComputedDocument
  }
  getPublishedScript: {
    roles: 'anyone'
    params: { integration: string; installation: string; site: string }
    query: object
    body: undefined
    answer: void
  }
  authenticateVisitor: {
    roles: 'anyone'
    params: { integration: string; installation: string; site: string }
    query: AuthenticateVisitorQuery
    body: undefined
    answer: void
  }
}
