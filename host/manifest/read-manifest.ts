import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { checkImages } from './checks/check-images.ts'
import { checkMeaning } from './checks/check-meaning.ts'
import { checkSchema } from './checks/check-schema.ts'
import { checkScript } from './checks/check-script.ts'
import { keepValidParts } from './checks/keep-valid-parts.ts'
import { quoteValue } from './message-text.ts'
import { maxManifestBytes, parseYaml } from './parse-yaml.ts'
import { createLocator, findSpan, type Span, type SpannedComplaint } from './positions.ts'
import type { Finding } from './problem.ts'
import {
  type Complaint,
  createProblem,
  createSourceFrame,
  hasErrors,
  maxProblems,
  type Problem,
  type SourceFrame,
} from './problem.ts'
import { type FileReading, missing, readInside } from './read-inside.ts'
import type { ReadOptions } from './read-options.ts'

/** The name of the manifest, and its name on the reference platform. The first one found counts. */
const fileNames = ['service-manifest.yaml', 'gitbook-manifest.yaml'] as const

/**
 * `manifest` is present when no problem is an error. `script` is present when that field and its file have no problem.
 */
export type ManifestReading = { folder: string; file: string; script?: string; problems: Problem[] } & (
  | { manifest: Manifest; frames: ManifestFrames }
  | { manifest?: undefined }
)

/** The locations of fields that are checked later, against other folders, the database and the script. */
export type ManifestFrames = Record<'name' | 'organization' | 'scopes', SourceFrame> & { ids: NamedId[] }

export type IdKind = 'component' | 'contentSource'

/** An id that the script has to define. `field`: where the manifest names it. */
export type NamedId = { kind: IdKind; field: string; id: string; frame: SourceFrame }

/** Reads and checks the manifest of a plugin folder. Reports all mistakes at once, and throws for none of them. */
export async function readManifest(folder: string, options: ReadOptions): Promise<ManifestReading> {
  const { file, reading } = await readManifestFile(folder, options)
  if ('problem' in reading) {
    if (reading.problem === missing) return refuse(folder, file, await explainMissing(folder))
    return refuse(folder, file, { message: `the manifest ${reading.problem}` })
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
  // Errors first: thousands of warnings must not displace them.
  const problems = [...spanned.filter(isError), ...spanned.filter((complaint) => !isError(complaint))]
    .slice(0, maxProblems)
    .sort((a, b) => a.span[0] - b.span[0])
    .map((complaint) => createProblem(file, source, locate(complaint.span), complaint))
  const hasScript = valid.script !== undefined && ofFiles.every(({ pointer }) => pointer !== '/script')
  const known = { folder, file, ...(hasScript && { script: valid.script }), problems }
  if (data === undefined || hasErrors(problems)) return known
  const frameOf = (field: string) =>
    createSourceFrame(file, source, locate(findSpan(positions, `/${field}`, 'value')))
  const frames = {
    name: frameOf('name'),
    organization: frameOf('organization'),
    scopes: frameOf('scopes'),
    ids: idsOf(valid).map(({ pointer, ...named }) => ({ ...named, frame: frameOf(pointer) })),
  }
  // What the schema only warns of is left out: values of "envs", and scopes.
  const manifest = { ...valid, scopes: valid.scopes?.filter(() => true) } as Manifest
  return { manifest, ...known, frames }
}

function idsOf({ blocks = [], contentSources = [], configurations = {} }: Partial<Manifest>) {
  const component = (pointer: string, field: string, id: string | undefined) =>
    id === undefined ? [] : [{ kind: 'component' as const, pointer, field, id }]
  return [
    ...blocks.flatMap(({ id }, n) => component(`blocks/${n}/id`, '"blocks"', id)),
    ...contentSources.flatMap(({ id, configuration }, n) => [
      { kind: 'contentSource' as const, pointer: `contentSources/${n}/id`, field: '"contentSources"', id },
      ...component(
        `contentSources/${n}/configuration/componentId`,
        `the content source ${quoteValue(id)}`,
        configuration?.componentId,
      ),
    ]),
    ...Object.entries(configurations).flatMap(([level, declared]) =>
      component(`configurations/${level}/componentId`, `"configurations.${level}"`, declared?.componentId),
    ),
  ]
}

/** YAML reads 1.10 as a number, true as a boolean and #ff0000 as a comment: quotes make them text. */
function hintForText(source: string, [start, end]: Span): string | undefined {
  const written = source.slice(start, end)
  if (written !== '') return `put it in quotes: ${quoteValue(written)}`
  const [comment] = /^[ \t]*#.*/.exec(source.slice(end)) ?? []
  return comment && `"#" begins a comment; put the value in quotes: ${quoteValue(comment.trim())}`
}

/** Checks the files that the manifest names. */
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

/** Explains a missing manifest: often the file has another name. */
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

function refuse(folder: string, file: string, complaint: Complaint): ManifestReading {
  return { folder, file, problems: [createProblem(file, '', { line: 1, column: 1 }, complaint)] }
}
