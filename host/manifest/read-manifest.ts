import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { checkDuplicates } from './checks/check-duplicates.ts'
import { checkImages } from './checks/check-images.ts'
import { checkInternalScopes } from './checks/check-internal-scopes.ts'
import { checkConfigurations } from './checks/check-meaning.ts'
import { checkSchema } from './checks/check-schema.ts'
import { checkScript } from './checks/check-script.ts'
import { checkSecrets } from './checks/check-secrets.ts'
import { checkContentSecurityPolicy } from './checks/content-security-policy.ts'
import type { Finding } from './checks/finding.ts'
import { keepValidParts } from './checks/keep-valid-parts.ts'
import { quoteValue } from './message-text.ts'
import { maxManifestBytes, parseYaml } from './parse-yaml.ts'
import { createLocator, findSpan, type Span, type SpannedComplaint } from './positions.ts'
import {
  type Complaint,
  createProblem,
  createSpot,
  hasErrors,
  maxProblems,
  type Problem,
  type Spot,
} from './problem.ts'
import { type FileReading, missing, readInside } from './read-inside.ts'
import type { ReadOptions } from './read-options.ts'

/** The operator's name for the manifest, and the name that the reference platform uses. The first wins. */
const fileNames = ['service-manifest.yaml', 'gitbook-manifest.yaml'] as const

/**
 * What became of a manifest: `manifest` is there when no problem is an error, `script` when nothing is wrong with that
 * field and its file.
 */
export type ManifestReading = { file: string; script?: string; problems: Problem[] } & (
  | { manifest: Manifest; spots: Spots }
  | { manifest?: undefined }
)

/** Where fields stand that only other folders and the database can show to be wrong. */
export type Spots = Record<'name' | 'organization' | 'scopes', Spot>

/**
 * Reads and checks the manifest of a plugin folder. Everything that is wrong is found at once. Never throws
 * for what is in the folder.
 */
export async function readManifest(folder: string, options: ReadOptions): Promise<ManifestReading> {
  const { file, reading } = await readManifestFile(folder, options)
  if ('problem' in reading) {
    if (reading.problem === missing) return refuse(file, await explainMissing(folder))
    return refuse(file, { message: `the manifest ${reading.problem}` })
  }
  const { source, data, positions, complaints } = parseYaml(reading.bytes)

  const shape = data === undefined ? [] : checkSchema(data)
  const valid = keepValidParts(data, shape)
  const ofFiles = await checkFiles(folder, valid, options)
  const findings = [...shape, ...checkMeaning(valid, options), ...ofFiles]

  const locate = createLocator(source)
  const spanned: SpannedComplaint[] = [
    ...complaints,
    ...findings.map((finding) => {
      const span = findSpan(positions, finding.pointer, finding.at)
      return { ...finding, span, ...(finding.wantsText && { hint: hintForText(source, span) }) }
    }),
  ]
  const isError = ({ severity = 'error' }: SpannedComplaint) => severity === 'error'
  // Errors first: warnings without end must not push them out.
  const problems = [...spanned.filter(isError), ...spanned.filter((complaint) => !isError(complaint))]
    .slice(0, maxProblems)
    .sort((a, b) => a.span[0] - b.span[0])
    .map((complaint) => createProblem(file, source, locate(complaint.span), complaint))
  const hasScript = valid.script !== undefined && ofFiles.every(({ pointer }) => pointer !== '/script')
  const known = { file, ...(hasScript && { script: valid.script }), problems }
  if (data === undefined || hasErrors(problems)) return known
  const spotOf = (field: keyof Spots) =>
    createSpot(file, source, locate(findSpan(positions, `/${field}`, 'value')))
  const spots = { name: spotOf('name'), organization: spotOf('organization'), scopes: spotOf('scopes') }
  // What is left out was a wrong value in "envs": all else in `shape` is an error.
  return { manifest: valid as Manifest, ...known, spots }
}

/** YAML makes a number of 1.10, true of true, and nothing of #ff0000: quotes make it text. */
function hintForText(source: string, [start, end]: Span): string | undefined {
  const written = source.slice(start, end)
  if (written !== '') return `put it in quotes: ${quoteValue(written)}`
  const [comment] = /^[ \t]*#.*/.exec(source.slice(end)) ?? []
  return comment && `"#" begins a comment; put the value in quotes: ${quoteValue(comment.trim())}`
}

/** What the schema cannot say and the text alone shows. */
function checkMeaning(manifest: Partial<Manifest>, options: ReadOptions): Finding[] {
  return [
    ...checkDuplicates(manifest),
    ...checkInternalScopes(manifest, options),
    ...checkConfigurations(manifest),
    ...checkSecrets(manifest, options),
    ...checkContentSecurityPolicy(manifest),
    ...checkEnvs(manifest),
  ]
}

/** What depends on the files beside the manifest. */
async function checkFiles(
  folder: string,
  manifest: Partial<Manifest>,
  options: ReadOptions,
): Promise<Finding[]> {
  return [
    ...(await checkScript(folder, manifest, options)),
    ...(await checkImages(folder, manifest, options)),
  ]
}

async function readManifestFile(
  folder: string,
  { ownFiles }: ReadOptions,
): Promise<{ file: string; reading: FileReading }> {
  for (const name of fileNames) {
    const reading = await readInside(folder, name, maxManifestBytes, ownFiles)
    if ('bytes' in reading || reading.problem !== missing) return { file: join(folder, name), reading }
  }
  return { file: join(folder, fileNames[0]), reading: { problem: missing } }
}

/** Why a folder has no manifest: mostly the file is there under another name. */
async function explainMissing(folder: string): Promise<Complaint> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => error)
  if (names instanceof Error) return { message: `the plugin folder ${toFolderProblem(names)}` }
  const message = `the manifest ${missing}`
  const meant = names.find((name) => /manifest.*\.(ya?ml|json)$/i.test(name))
  if (meant === undefined) return { message, hint: `a plugin folder holds a ${fileNames[0]}` }
  return { message, hint: `${quoteValue(meant)} is there: rename it to ${fileNames[0]}` }
}

function toFolderProblem({ code }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'is a link that leads nowhere'
  if (code === 'ELOOP') return 'is a link that leads in a circle'
  return `cannot be read (${code})`
}

function refuse(file: string, complaint: Complaint): ManifestReading {
  return { file, problems: [createProblem(file, '', { line: 1, column: 1 }, complaint)] }
}

function checkEnvs(manifest: Partial<Manifest>): Finding[] {
  if (manifest.envs === undefined) return []
  const message = '"envs" is understood, but nothing of it is applied yet'
  return [{ pointer: '/envs', at: 'key', severity: 'warning', message }]
}
