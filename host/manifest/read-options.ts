import type { Loader } from 'esbuild'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { OwnFiles } from './read-inside.ts'

/** The operator's organization, which has privileges. */
export type Operator = {
  /** Subdomain of the operator's organization. */
  operatorOrganization: string
  /** A manifest may name its organization by subdomain or by id. */
  operatorOrganizationId?: string
}

/** `toPlainScript`, or a request for it to another thread. */
export type ToPlain = (code: string, loader: Loader) => Promise<string | undefined>

export type ReadOptions = Operator & {
  toPlain?: ToPlain
  /** The variables for secrets. The rule in `secrets.ts` limits which ones are read. */
  environment: Record<string, string | undefined>
  /** A secret without a value is a warning only: the script runs on another machine. */
  secretsMayMiss?: boolean
  /** Refused where a plugin folder links to them. */
  ownFiles?: OwnFiles
}

/** True for an integration of the operator's organization. Compared exactly, as it grants privileges. */
export const isOperatorsOwn = (manifest: Partial<Manifest>, operator: Operator): boolean =>
  manifest.organization !== undefined &&
  (manifest.organization === operator.operatorOrganization ||
    manifest.organization === operator.operatorOrganizationId)
