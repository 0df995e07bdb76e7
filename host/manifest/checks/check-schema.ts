import type { ValidateFunction } from 'ajv/dist/2020.js'
import { compileLate } from '../../../schemas/compile-late.ts'
import { createAjv } from '../../../schemas/create-ajv.ts'
import schema from '../../../schemas/manifest.schema.json' with { type: 'json' }
import type { Finding } from './finding.ts'
import { toFinding } from './schema-findings.ts'

/** Everything about plain data that does not match the schema of the manifest: one finding for each mistake. */
export function checkSchema(data: unknown): Finding[] {
  const validate = validator()
  if (validate(data)) return []
  const findings = (validate.errors ?? []).map(toFinding).filter((finding) => finding !== undefined)
  const seen = new Set<string>()
  return findings.filter(({ pointer, at, message }) => {
    const mistake = `${pointer} ${at} ${message}`
    return !seen.has(mistake) && seen.add(mistake)
  })
}

const validator = compileLate(compileSchema)

function compileSchema(): ValidateFunction {
  const ajv = createAjv({
    allErrors: true,
    // The findings name what was found and what the schema says beside the keyword that failed.
    verbose: true,
    discriminator: true,
    allowUnionTypes: true,
    strictRequired: false,
    // It takes longer than all that it would ever save.
    code: { optimize: false },
  })
  ajv.addKeyword('x-expected')
  ajv.addFormat('uri', isWebAddress)
  return ajv.compile(schema)
}

/** Links are shown to installers: `javascript:` and its like must not get there. */
function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s]/i.test(text) && URL.canParse(text)
}
