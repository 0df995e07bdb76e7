// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * A permission. `site:script:inject` and `site:script:cookies` are internal: only for the operator's own integrations. `page:feedback:read` is an extension.
 */
export type Scope =
  | 'space:content:read'
  | 'space:content:write'
  | 'space:metadata:read'
  | 'space:metadata:write'
  | 'space:git:sync'
  | 'site:metadata:read'
  | 'site:views:read'
  | 'site:script:inject'
  | 'site:script:cookies'
  | 'site:visitor:auth'
  | 'site:visitor:claims'
  | 'site:adaptive:read'
  | 'site:adaptive:write'
  | 'openapi:read'
  | 'openapi:write'
  | 'conversations:ingest'
  | 'page:feedback:read'
/**
 * Permissions that the integration asks for.
 *
 * @maxItems 100
 */
export type Scopes = Scope[]
/**
 * Components that the inline command palette offers (ctrl/cmd + /). Made with `createComponent()`. Our limit: 100.
 *
 * @maxItems 100
 */
export type Blocks = Block[]
/**
 * A shelf of the catalogue. `visitor-auth` is another name of `authenticated-access`.
 */
export type Category =
  'analytics' | 'collaboration' | 'content' | 'marketing' | 'authenticated-access' | 'visitor-auth' | 'other'
/**
 * Where the integration is listed.
 *
 * @maxItems 20
 */
export type Categories = Category[]
/**
 * Images of the installation page. Recommended: 1600 x 800 px; another ratio than 2:1 is a warning. Our limit: 20.
 *
 * @maxItems 20
 *
 * Items: Path of an image, within the plugin folder: PNG, JPEG, GIF, WebP or AVIF.
 */
export type PreviewImages = string[]
/**
 * Links shown on the installation page. Our limit: 50.
 *
 * @maxItems 50
 */
export type ExternalLinks = ExternalLink[]
/**
 * One setting.
 */
export type Property = StringProperty | NumberProperty | BooleanProperty | ButtonProperty
/**
 * Content that the integration computes. Extension. Our limit: 50.
 *
 * @maxItems 50
 */
export type ContentSources = ContentSource[]
/**
 * Content-Security-Policy of what the integration shows: the text of the policy (line breaks allowed), or a map of directive to its values. Extension. Our limit: 8192 characters.
 */
export type ContentSecurityPolicy =
  | string
  | {
      /**
       * Values of the directive, separated by spaces.
       */
      [k: string]: string | null
    }
/**
 * A reference to an environment variable of the host: `${{ env.NAME }}`.
 */
export type SecretReference = string
/**
 * The hosts that the script may reach with `fetch`, at redirects too, and where its deliveries go beside the hosts that people type in its settings; Annex's own API needs no mention. Without this field: any public host, unless the operator asks for a declaration. Extension. Our limit: 100.
 *
 * @maxItems 100
 *
 * Items: A host name or IPv4 address. `*.example.com` stands for every name below it; without a port it is that of http or https.
 */
export type Egress = string[]

/**
 * The manifest of an integration: `service-manifest.yaml` in its plugin folder.
 */
export interface Manifest {
  /**
   * Unique identifier of the integration: letters, digits and single hyphens. Unique across all integrations, case ignored. Our limit: 100 characters.
   */
  name: string
  /**
   * Integration name shown to users. Our limit: 200 characters.
   */
  title: string
  /**
   * Short description. Our limit: 1000 characters.
   */
  description: string
  /**
   * Markdown shown on the installation page, at most 2048 characters. A character is a Unicode code point, as JSON Schema counts them.
   */
  summary?: string
  /**
   * Organization that owns the integration: its `id` or its `subdomain`. Our limit: 100 characters.
   */
  organization: string
  /**
   * Who can install it: members of the owning organization (private), anybody with the install link (unlisted), or anybody (public).
   */
  visibility: 'private' | 'unlisted' | 'public'
  scopes: Scopes
  /**
   * Path of the entry file, within the plugin folder. It must contain a call to `createIntegration()`. Our limit: 512 characters.
   */
  script?: string
  /**
   * What the integration is installed into. Extension; when absent, all of them.
   */
  target?: 'all' | 'site' | 'space' | 'organization'
  blocks?: Blocks
  categories?: Categories
  /**
   * Path of the icon on the installation page, within the plugin folder: PNG, JPEG, GIF, WebP or AVIF.
   */
  icon?: string
  previewImages?: PreviewImages
  externalLinks?: ExternalLinks
  configurations?: Configurations
  contentSources?: ContentSources
  contentSecurityPolicy?: ContentSecurityPolicy
  secrets?: Secrets
  egress?: Egress
  /**
   * Fields that differ in a named environment. Extension: checked, and not applied yet.
   */
  envs?: {
    [k: string]: Overrides
  }
}
/**
 * A component in the inline command palette.
 */
export interface Block {
  /**
   * The `componentId` of the component. Our limit: 100 characters.
   */
  id: string
  /**
   * Name in the palette. Our limit: 200 characters.
   */
  title: string
  /**
   * Shown beside the name. Our limit: 1000 characters.
   */
  description?: string
  /**
   * Path of the icon in the palette, within the plugin folder. Extension.
   */
  icon?: string
  /**
   * Addresses that become this block when they are pasted. Extension. Our limit: 50.
   *
   * @maxItems 50
   *
   * Items: An address, in which `*` stands for any text.
   */
  urlUnfurl?: string[]
  /**
   * How the block is written in Markdown: as a fenced code block. Extension.
   */
  markdown?: {
    /**
     * Language of the fence.
     */
    codeblock: string
    /**
     * Property of the block that holds what stands between the fences.
     */
    body?: string
  }
}
/**
 * A link on the installation page.
 */
export interface ExternalLink {
  /**
   * Text of the link. Our limit: 200 characters.
   */
  label: string
  /**
   * Address: http or https. Our limit: 2048 characters.
   */
  url: string
}
/**
 * Settings collected at installation.
 */
export interface Configurations {
  account?: ConfigurationLevel
  site?: ConfigurationLevel
  space?: ConfigurationLevel
}
/**
 * Settings of one level: `properties` and `required`, or the component that asks for them.
 */
export interface ConfigurationLevel {
  /**
   * Each setting by its name. Our limit: 200.
   */
  properties?: {
    [k: string]: Property
  }
  /**
   * Names of the settings that must be set.
   *
   * @maxItems 200
   *
   * Items: Name of a setting.
   */
  required?: string[]
  /**
   * Names of `boolean` settings of which at least one must be on. Extension.
   *
   * @minItems 1
   * @maxItems 200
   *
   * Items: Name of a `boolean` setting.
   */
  requiredAny?: string[]
  /**
   * Component that asks for the settings, in place of `properties`. Extension.
   */
  componentId?: string
}
/**
 * Text, or a choice when `enum` or `completion_url` is given.
 */
export interface StringProperty {
  /**
   * A text.
   */
  type: 'string'
  /**
   * Name of the setting in the installation form. Our limit: 200 characters.
   */
  title?: string
  /**
   * Shown under the setting in the installation form. Our limit: 1000 characters.
   */
  description?: string
  /**
   * Value when none is given. Among `enum` when that is given.
   */
  default?: string
  /**
   * The choices: no other value is taken. Our limit: 500.
   *
   * @minItems 1
   * @maxItems 500
   *
   * Items: A choice.
   */
  enum?: string[]
  /**
   * Path within the integration that answers with the choices. Beside `enum` it answers with those of the choices that the form offers.
   */
  completion_url?: string
  /**
   * `true`: people can set the value, and see only that it is set. Logs leave it out. Not beside `default`, `enum` and `completion_url`. Extension.
   */
  secret?: boolean
  /**
   * `uri`: the text must be a web address, with http or https. An empty text is one where the setting is not required. Extension.
   */
  format?: 'uri'
}
/**
 * A number.
 */
export interface NumberProperty {
  /**
   * A number.
   */
  type: 'number'
  /**
   * Name of the setting in the installation form. Our limit: 200 characters.
   */
  title?: string
  /**
   * Shown under the setting in the installation form. Our limit: 1000 characters.
   */
  description?: string
  /**
   * Value when none is given.
   */
  default?: number
}
/**
 * A toggle.
 */
export interface BooleanProperty {
  /**
   * A toggle.
   */
  type: 'boolean'
  /**
   * Name of the setting in the installation form. Our limit: 200 characters.
   */
  title?: string
  /**
   * Shown under the setting in the installation form. Our limit: 1000 characters.
   */
  description?: string
  /**
   * Value when none is given.
   */
  default?: boolean
}
/**
 * Starts an OAuth connection; see `createOAuthHandler()`.
 */
export interface ButtonProperty {
  /**
   * A connection with a provider.
   */
  type: 'button'
  /**
   * Name of the setting in the installation form. Our limit: 200 characters.
   */
  title?: string
  /**
   * Shown under the setting in the installation form. Our limit: 1000 characters.
   */
  description?: string
  /**
   * Text of the button. Our limit: 100 characters.
   */
  button_text: string
  /**
   * Path within the integration where the connection starts.
   */
  callback_url: string
}
/**
 * Content that the integration computes.
 */
export interface ContentSource {
  /**
   * The `sourceId` given to `createContentSource()`. Our limit: 100 characters.
   */
  id: string
  /**
   * Name shown to users. Our limit: 200 characters.
   */
  title: string
  /**
   * Shown beside the name. Our limit: 1000 characters.
   */
  description?: string
  /**
   * Path of the icon, within the plugin folder.
   */
  icon?: string
  /**
   * How the source is configured.
   */
  configuration?: {
    /**
     * The component that asks for the settings.
     */
    componentId: string
  }
}
/**
 * Secrets of the script, each read from an environment variable of the host. Nothing of the environment is passed unless it is named here.
 */
export interface Secrets {
  [k: string]: SecretReference
}
/**
 * Fields of the manifest in one environment.
 */
export interface Overrides {
  /**
   * Integration name shown to users. Our limit: 200 characters.
   */
  title?: string
  /**
   * Short description. Our limit: 1000 characters.
   */
  description?: string
  /**
   * Markdown shown on the installation page, at most 2048 characters. A character is a Unicode code point, as JSON Schema counts them.
   */
  summary?: string
  /**
   * Organization that owns the integration: its `id` or its `subdomain`. Our limit: 100 characters.
   */
  organization?: string
  /**
   * Who can install it: members of the owning organization (private), anybody with the install link (unlisted), or anybody (public).
   */
  visibility?: 'private' | 'unlisted' | 'public'
  scopes?: Scopes
  /**
   * Path of the entry file, within the plugin folder. It must contain a call to `createIntegration()`. Our limit: 512 characters.
   */
  script?: string
  /**
   * What the integration is installed into. Extension; when absent, all of them.
   */
  target?: 'all' | 'site' | 'space' | 'organization'
  blocks?: Blocks
  categories?: Categories
  /**
   * Path of the icon on the installation page, within the plugin folder: PNG, JPEG, GIF, WebP or AVIF.
   */
  icon?: string
  previewImages?: PreviewImages
  externalLinks?: ExternalLinks
  configurations?: Configurations
  contentSources?: ContentSources
  contentSecurityPolicy?: ContentSecurityPolicy
  secrets?: Secrets
  egress?: Egress
}
