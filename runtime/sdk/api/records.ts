/** Records of the platform, with the fields that scripts read. Servers send more: read those as `unknown`. */
type Open<T> = T & { [field: string]: unknown }

export type List<T> = { items: T[]; next?: { page: string }; count?: number }
/** `published` and `public`: where people read it, for a space that is published. */
type PlaceUrls = { app: string; published?: string; public?: string }
export type Space = Open<{ id: string; title: string; visibility?: string; urls: PlaceUrls }>
export type Revision = Open<{ id: string; type: string; mergedFrom?: string | null; pages: RevisionPage[] }>
export type RevisionPage = Open<{
  id: string
  title: string
  path: string
  type?: string
  kind?: string
  slug?: string
  description?: string
  pages?: RevisionPage[]
}>
/** The pages of the top level, each with those below it. */
export type RevisionPages = Open<{ pages: RevisionPage[] }>
export type PageWithContent = RevisionPage & { document?: unknown; markdown?: string }
export type RevisionChanges = Open<{ changes: Open<{ type: string }>[] }>
export type IntegrationRecord = Open<{ name: string; title: string; scopes: string[] }>
export type InstallationRecord = Open<{
  id: string
  integration: string
  status: string
  configuration: Record<string, unknown>
  externalIds: string[]
}>
export type TargetInstallationRecord = Open<{
  installation: string
  status: string
  configuration: Record<string, unknown>
  externalIds?: string[]
}>
export type InstallationUpdate = {
  /** Replaces what is stored, but for what `keep` names. */
  configuration?: object
  externalIds?: string[]
  /** `settings`: what people made and connected stays. `all`: what the script stored stays too. */
  keep?: 'settings' | 'all'
  /** The path at which a connection began: the buttons with this `callback_url` are connected. */
  callback?: string
}
export type Token = { token: string }
export type Site = Open<{ id: string; title: string; urls: PlaceUrls; adaptiveContent: { enabled: boolean } }>
