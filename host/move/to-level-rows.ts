import { createCheck } from '../../schemas/create-check.ts'
import { isSigningSecret, type SecretBox } from '../access/secret-box.ts'
import type { MovedRow } from '../db/queries/moved/import-rows.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { parseJson } from './read-export.ts'
import { sealedSchema } from './record-schemas.ts'
import type { EndpointRecord, InstallationRecord, SealedPart, TargetRecord } from './records.ts'

/** What the records of a file are stored with. */
export type Importing = {
  /** Of this Annex. */
  box: Pick<SecretBox, 'seal'>
  /** Of the passphrase. */
  opening: Pick<SecretBox, 'open'>
  organizationId: string
  integration: string
  installationId: string
  /** Those of the file, by their ids. */
  endpoints: Map<string, Pick<EndpointRecord, 'signedBy' | 'url'>>
}

const sealedPart = createCheck<SealedPart>(sealedSchema, { allowUnionTypes: true })

export function toInstallationRow(
  importing: Importing,
  record: InstallationRecord,
  line: number,
): MovedRow<'installations'> {
  const { integration, organizationId } = importing
  const statusReason = `Imported at ${new Date().toISOString()}. \`annex resume ${record.id}\` starts it, when it runs nowhere else.`
  return {
    ...{ id: record.id, integration, organizationId },
    ...{ status: 'moving', statusReason, suspendedFrom: record.resumesTo === 'pending' ? 'pending' : null },
    ...toLevelColumns(importing, record, line),
  }
}

export function toTargetRow(
  importing: Importing,
  record: TargetRecord,
  line: number,
): MovedRow<'installationTargets'> {
  const { kind, targetId, status } = record
  const { installationId } = importing
  return { installationId, kind, targetId, status, ...toLevelColumns(importing, record, line) }
}

function toLevelColumns(
  { box, opening }: Importing,
  record: InstallationRecord | TargetRecord,
  line: number,
) {
  const { previousSecretUntil, firstSecret, createdAt, updatedAt } = record
  const part = open(opening, record.sealed, line)
  for (const secret of [part.signingSecret, part.previousSigningSecret]) {
    if (secret === null || isSigningSecret(secret)) continue
    throw new AnnexError(
      'export_invalid',
      `Line ${line}: a signing secret is too weak. Rotate it where it was exported, and export again.`,
    )
  }
  const previous = part.previousSigningSecret
  return {
    configuration: JSON.stringify(part.configuration),
    externalIds: JSON.stringify(record.externalIds),
    signingSecret: box.seal(part.signingSecret),
    previousSigningSecret: previous === null ? null : box.seal(previous),
    ...{ previousSecretUntil, firstSecret, createdAt, updatedAt },
  }
}

function open(opening: Pick<SecretBox, 'open'>, sealed: string, line: number): SealedPart {
  try {
    const part = parseJson(Buffer.from(opening.open(sealed)), line)
    if (sealedPart()(part)) return part
  } catch (cause) {
    throw new AnnexError('export_invalid', `Line ${line}: what is sealed cannot be opened.`, { cause })
  }
  throw new AnnexError('export_invalid', `Line ${line}: what is sealed is not as an export has it.`)
}
