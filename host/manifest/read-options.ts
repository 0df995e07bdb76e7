import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { OwnFiles } from './read-inside.ts'

/** The operator's organization, which has privileges. */
export type Operator = {
  /** Subdomain of the operator's organization. */
  operatorOrganization: string
  operatorOrganizationId?: string
  /** The external ids by which a manifest may name it. */
  operatorExternalIds?: readonly string[]
}

export type ReadOptions = Operator & {
  /** The variables for secrets. The rule in `secrets.ts` limits which ones are read. */
  environment: Record<string, string | undefined>
  /** The command reads no database and runs no script for visitors: what only a server knows is a warning. */
  isWithoutServer?: boolean
  /** Refused where a plugin folder links to them. */
  ownFiles?: OwnFiles
}

/** Without a server the operator's organization is known by its subdomain alone. */
export const toOtherNames = ({ isWithoutServer, operatorOrganization }: ReadOptions): string =>
  isWithoutServer ? `. A server also knows the id and the external ids of "${operatorOrganization}"` : ''

/** True for an integration of the operator's organization. Compared exactly, as it grants privileges. */
export const isOperatorsOwn = ({ organization }: Partial<Manifest>, operator: Operator): boolean =>
  organization !== undefined &&
  [
    operator.operatorOrganization,
    operator.operatorOrganizationId,
    ...(operator.operatorExternalIds ?? []),
  ].includes(organization)
