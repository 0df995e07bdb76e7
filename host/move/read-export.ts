import { timingSafeEqual } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { createCheck } from '../../schemas/create-check.ts'
import type { SecretBox } from '../access/secret-box.ts'
import { stepNames } from '../db/migrations/index.ts'
import { AnnexError, isAnnexError } from '../errors/annex-error.ts'
import { assertShallow } from '../errors/json-depth.ts'
import { type ExportKey, openPassphrase } from './passphrase.ts'
import { readLines } from './read-lines.ts'
import { recordSchemas } from './record-schemas.ts'
import {
  type EndRecord,
  type ExportRecord,
  formatVersion,
  type HeaderRecord,
  type MovedRecord,
  recordOrder,
  singleRecords,
} from './records.ts'

export type ExportFile = {
  box: Pick<SecretBox, 'open'>
  /** Each record with the number of its line. To be read to its end: only the last line says that nobody changed one. */
  read: () => AsyncGenerator<{ record: MovedRecord; line: number }>
}

/** What Annex takes has 64 at most, but a task of an older one may have more; SQLite reads no JSON of more. */
const mostLevels = 1_000

const options = { strict: true, strictTypes: false, strictTuples: false, allowUnionTypes: true }
const checks: Record<string, () => ValidateFunction> = Object.fromEntries(
  Object.entries(recordSchemas).map(([record, schema]) => [record, createCheck(schema, options)]),
)

/**
 * Opens the file of an export, whoever may have written it.
 *
 * @throws AnnexError `export_invalid` when it is none, of another format, or needs another passphrase. `read` throws it
 *   for a line that no export has, for one that is missing, changed or in the wrong place
 */
export async function openExport(file: FileHandle, passphrase: string): Promise<ExportFile> {
  const lines = readLines(file)
  const first = await lines.next()
  await lines.return(undefined)
  if (first.done) throw new AnnexError('export_invalid', 'The file is empty.')
  const header = parseHeader(first.value)
  const key = await openPassphrase(passphrase, Buffer.from(header.salt, 'base64'))
  assertOpens(key, header)
  return { box: key.box, read: () => readRecords(file, key) }
}

function parseHeader(line: Buffer): HeaderRecord {
  let header: ExportRecord
  try {
    header = parseRecord(line, 1)
  } catch (cause) {
    throw new AnnexError('export_invalid', 'The file is no export of an installation.', { cause })
  }
  if (header.record !== 'header') {
    throw new AnnexError('export_invalid', 'The file is no export of an installation.')
  }
  const { format, schema, annex } = header
  if (format !== formatVersion || !stepNames.includes(schema)) {
    throw new AnnexError(
      'export_invalid',
      `The export was made by Annex ${annex} (format ${format}, tables ${schema}), which this one is too old for: it ` +
        `knows format ${formatVersion} and tables up to ${stepNames.at(-1)}. Start a newer one.`,
    )
  }
  return header
}

function assertOpens({ box }: ExportKey, { check }: HeaderRecord): void {
  try {
    if (box.open(check) === 'check') return
  } catch (error) {
    if (!isAnnexError(error)) throw error
  }
  throw new AnnexError('export_invalid', 'The export cannot be opened: the passphrase is another one.')
}

async function* readRecords(
  file: FileHandle,
  key: ExportKey,
): AsyncGenerator<{ record: MovedRecord; line: number }> {
  const proof = key.createProof()
  const counts: Record<string, number> = {}
  let place = 0
  let end: EndRecord | undefined
  let line = 0
  for await (const bytes of readLines(file)) {
    line += 1
    if (end !== undefined) throw invalid(line, 'comes after the last one')
    const record = parseRecord(bytes, line)
    const itsPlace = recordOrder.indexOf(record.record)
    const isSecond = itsPlace === place && line > 1 && singleRecords.has(record.record)
    if (itsPlace < place || isSecond) throw invalid(line, `(${record.record}) is not where it belongs`)
    const missing = recordOrder.slice(place + 1, itsPlace).find((name) => singleRecords.has(name))
    if (missing !== undefined) throw invalid(line, `(${record.record}) has no ${missing} before it`)
    place = itsPlace
    if (record.record === 'end') {
      end = record
      continue
    }
    proof.update(bytes).update('\n')
    if (record.record === 'header') continue
    counts[record.record] = (counts[record.record] ?? 0) + 1
    yield { record, line }
  }
  if (end === undefined) throw new AnnexError('export_invalid', `The file is cut off after line ${line}.`)
  assertWhole(end, counts, proof.digest())
}

function assertWhole(end: EndRecord, counts: Record<string, number>, proof: Buffer): void {
  for (const record of new Set([...Object.keys(end.counts), ...Object.keys(counts)])) {
    const [said, found] = [end.counts[record] ?? 0, counts[record] ?? 0]
    if (said === found) continue
    throw new AnnexError('export_invalid', `The file has ${found} lines of "${record}", and says ${said}.`)
  }
  if (timingSafeEqual(proof, Buffer.from(end.hmac, 'hex'))) return
  throw new AnnexError('export_invalid', 'The file is not as it was exported: a line was changed.')
}

/** @throws AnnexError `export_invalid` */
function parseRecord(bytes: Buffer, line: number): ExportRecord {
  const value = parseJson(bytes, line)
  const { record } = Object(value) as { record?: unknown }
  const check = typeof record === 'string' && Object.hasOwn(checks, record) ? checks[record]?.() : undefined
  if (check === undefined) throw invalid(line, 'is none of an export')
  if (check(value)) return value as ExportRecord
  const [error] = check.errors ?? []
  const field = error?.instancePath.slice(1).replaceAll('/', '.')
  const unknown = error?.params.additionalProperty
  throw invalid(line, `(${record}): ${field || 'it'} ${error?.message}${unknown ? ` (${unknown})` : ''}`)
}

/** @throws AnnexError `export_invalid` */
export function parseJson(bytes: Buffer, line: number): unknown {
  const text = bytes.toString('utf8')
  try {
    assertShallow(text, 'line', mostLevels)
    return JSON.parse(text)
  } catch (cause) {
    throw new AnnexError(
      'export_invalid',
      `Line ${line} is no JSON, or nested more than ${mostLevels} levels deep.`,
      {
        cause,
      },
    )
  }
}

const invalid = (line: number, what: string): AnnexError =>
  new AnnexError('export_invalid', `Line ${line} ${what}.`)
