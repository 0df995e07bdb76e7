import type { Loader } from 'esbuild'
import type { OwnFiles } from './own-files.ts'

/** Who runs this Annex. */
export type Operator = {
  /** Subdomain of the operator's organization. */
  operatorOrganization: string
  /** Its id, where it is known: a manifest may name its organization by either. */
  operatorOrganizationId?: string
}

/** A script as plain JavaScript: `toPlainScript`, or what asks another thread for it. */
export type ToPlain = (code: string, loader: Loader) => Promise<string | undefined>

export type ReadOptions = Operator & {
  toPlain?: ToPlain
  /** Where secrets are looked up. Only what the rule in `secret-references.ts` allows is ever read. */
  environment: Record<string, string | undefined>
  /** A secret without a value is a warning: the reader is not the machine that runs the script. */
  secretsMayMiss?: boolean
  /** Files of a plugin folder that are these are refused. */
  ownFiles?: OwnFiles
}
