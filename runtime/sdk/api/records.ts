import type * as content from '../../../schemas/generated/api/content.ts'
import type * as installations from '../../../schemas/generated/api/installations.ts'
import type * as integrations from '../../../schemas/generated/api/integrations.ts'
import type * as sites from '../../../schemas/generated/api/sites.ts'
import type * as spaces from '../../../schemas/generated/api/spaces.ts'

/** A record of the API: `/openapi.json` has its fields. Other servers send more: read such fields as `unknown`. */
type Open<T> = T & { [field: string]: unknown }

export type List<T> = { items: T[]; next?: { page: string }; count?: number }
export type Space = Open<spaces.Space>
export type Site = Open<sites.Site>
export type Revision = Open<content.Revision>
export type RevisionPages = Open<content.PageList>
export type PageWithContent = Open<content.PageWithText>
export type RevisionChanges = Open<content.RevisionChanges>
export type IntegrationRecord = Open<integrations.Integration>
export type InstallationRecord = Open<installations.Installation>
export type PlaceInstallationRecord = Open<installations.SiteInstallation | installations.SpaceInstallation>
export type InstallationUpdate = installations.LevelEdit
export type Token = integrations.InstallationToken
