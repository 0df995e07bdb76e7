import type { Manifest, Scope } from '../../../schemas/generated/manifest.ts'
import type { Operator } from '../read-options.ts'
import type { Finding } from './finding.ts'

/** Spec 2.3: what injects scripts or sets cookies in a published site. */
const internalScopes: ReadonlySet<Scope> = new Set(['site:script:inject', 'site:script:cookies'])

/** Whether an integration says that it belongs to the operator. Compared exactly: it grants privileges. */
export const isOperatorsOwn = (manifest: Partial<Manifest>, operator: Operator): boolean =>
  manifest.organization !== undefined &&
  (manifest.organization === operator.operatorOrganization ||
    manifest.organization === operator.operatorOrganizationId)

/** Internal scopes are for the operator's own integrations only. */
export function checkInternalScopes(manifest: Partial<Manifest>, operator: Operator): Finding[] {
  if (manifest.organization === undefined || isOperatorsOwn(manifest, operator)) return []
  const findings: Finding[] = []
  manifest.scopes?.forEach((scope, index) => {
    if (!internalScopes.has(scope)) return
    findings.push({
      pointer: `/scopes/${index}`,
      at: 'value',
      message: `the scope "${scope}" is internal: only integrations of the organization "${operator.operatorOrganization}" may have it`,
      hint: `this manifest names the organization "${manifest.organization}"; remove the scope`,
    })
  })
  return findings
}
