// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { InstallationsOperations } from './installations.ts'
import type { IntegrationsOperations } from './integrations.ts'
import type { OrganizationsOperations } from './organizations.ts'
import type { SitesOperations } from './sites.ts'
import type { SpacesOperations } from './spaces.ts'

/** Each operation of the API by its id. */
export type Operations = InstallationsOperations &
  IntegrationsOperations &
  OrganizationsOperations &
  SitesOperations &
  SpacesOperations

export type OperationId = keyof Operations
