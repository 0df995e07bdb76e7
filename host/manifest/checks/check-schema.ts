import { fileURLToPath } from 'node:url'
import { createCheck } from '../../../schemas/create-check.ts'
import schema from '../../../schemas/manifest.schema.json' with { type: 'json' }
import type { Finding } from './finding.ts'
import { toFinding } from './schema-findings.ts'

/** Everything about plain data that does not match the schema of the manifest: one finding for each mistake. */
export function checkSchema(data: unknown): Finding[] {
  const validate = validator()
  if (validate(data)) return []
  const findings = (validate.errors ?? []).map(toFinding).filter((finding) => finding !== undefined)
  const seen = new Set<string>()
  return findings
    .filter(({ pointer, at, message }) => {
      const mistake = `${pointer} ${at} ${message}`
      return !seen.has(mistake) && seen.add(mistake)
    })
    .map((finding) => (isOfEnvs(finding) ? { ...finding, severity: 'warning' } : finding))
}

/** Nothing of "envs" is applied. */
const isOfEnvs = ({ pointer }: Finding): boolean => pointer === '/envs' || pointer.startsWith('/envs/')

const validator = createCheck(schema, {
  allErrors: true,
  // The findings name what was found and what the schema says beside the keyword that failed.
  verbose: true,
  discriminator: true,
  allowUnionTypes: true,
  strictRequired: false,
  keywords: ['x-expected'],
  formats: { from: fileURLToPath(new URL('./web-address.ts', import.meta.url)), name: 'formats' },
})
