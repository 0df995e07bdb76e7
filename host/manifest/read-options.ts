/** Who runs this Annex. */
export type Operator = {
  /** Subdomain of the operator's organization. */
  operatorOrganization: string
  /** Its id, where it is known: a manifest may name its organization by either. */
  operatorOrganizationId?: string
}

export type ReadOptions = Operator & {
  /** Where secrets are looked up. Only what the rule in `secret-references.ts` allows is ever read. */
  environment: Record<string, string | undefined>
}
