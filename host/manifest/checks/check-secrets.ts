import type { Manifest } from '../../../schemas/generated/manifest.ts'
import type { ReadOptions } from '../read-options.ts'
import { lookUp, toVariable, whyRefused } from '../secrets.ts'
import type { Finding } from './finding.ts'

/** Every secret names an environment variable that the integration may read and that is set. */
export function checkSecrets(manifest: Partial<Manifest>, options: ReadOptions): Finding[] {
  const findings: Finding[] = []
  for (const [name, reference] of Object.entries(manifest.secrets ?? {})) {
    const variable = toVariable(reference ?? '')
    if (variable === undefined) continue
    const complain = (message: string, hint: string, severity: Finding['severity'] = 'error') =>
      findings.push({ pointer: `/secrets/${name}`, at: 'value', severity, message, hint })
    // Refused before it is looked up: the answer must not tell whether the variable exists.
    const refused = whyRefused(variable, manifest, options)
    if (refused !== undefined) {
      complain(
        `the secret "${name}" may not read the environment variable ${variable}: ${refused}`,
        'name another variable',
      )
    } else if (lookUp(variable, options) === undefined) {
      complain(
        `the environment variable ${variable} of the secret "${name}" is not set`,
        `write ${variable}=… into .env and reload, or start Annex with it in the environment`,
        options.secretsMayMiss ? 'warning' : 'error',
      )
    }
  }
  return findings
}
