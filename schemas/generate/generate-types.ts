import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compile } from 'json-schema-to-typescript'
import { readApiFiles } from '../read-api-files.ts'
import { makeApiTypes } from './api-types.ts'

/** One generated file: where it belongs, what it should hold, and whether the disk holds something else. */
export type GeneratedFile = { path: string; text: string; stale: boolean }

const banner = '// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.'
const options = {
  bannerComment: banner,
  additionalProperties: false,
  unknownAny: true,
  ignoreMinAndMaxItems: true,
  style: { semi: false, singleQuote: true, printWidth: 110 },
}

/**
 * Makes the TypeScript types of every schema below `<root>/schemas`, or with `--check` only says which are
 * stale.
 *
 * @returns the exit code: 1 when something is stale and was not written
 */
export async function generateTypes(
  root: string,
  args: string[],
  print: (line: string) => void,
): Promise<number> {
  const schemas = join(root, 'schemas')
  const files = [...(await generateSchemaTypes(schemas)), ...(await generateApiTypes(schemas))]
  const stale = files.filter((file) => file.stale)
  if (args.includes('--check')) {
    for (const file of stale) print(`${relative(root, file.path)} is stale: run \`make types\``)
    return stale.length > 0 ? 1 : 0
  }
  for (const file of stale) {
    await mkdir(dirname(file.path), { recursive: true })
    await writeFile(file.path, file.text)
    print(`wrote ${relative(root, file.path)}`)
  }
  return 0
}

/**
 * The types of every `*.schema.json` in a folder and below, which belong in its `generated/`. Writes nothing.
 *
 * @param schemasFolder absolute path
 */
async function generateSchemaTypes(schemasFolder: string): Promise<GeneratedFile[]> {
  const files: GeneratedFile[] = []
  for (const schemaPath of await findSchemas(schemasFolder)) {
    const schema = JSON.parse(await readFile(schemaPath, 'utf8'))
    const text = await compile(forTypes(schema), schema.title, { ...options, cwd: schemasFolder })
    const name = relative(schemasFolder, schemaPath).replace(/\.schema\.json$/, '.ts')
    files.push(await compareFile(join(schemasFolder, 'generated', name), text))
  }
  return files
}

/** The types of the API's resources. */
async function generateApiTypes(schemasFolder: string): Promise<GeneratedFile[]> {
  const folder = join(schemasFolder, 'api')
  if (!existsSync(folder)) return []
  const made = await makeApiTypes(readApiFiles(folder), options)
  return Promise.all(
    made.map(({ id, text }) => compareFile(join(schemasFolder, 'generated/api', `${id}.ts`), text)),
  )
}

const compareFile = async (path: string, text: string): Promise<GeneratedFile> => ({
  path,
  text,
  stale: text !== (await readFile(path, 'utf8').catch(() => undefined)),
})

async function findSchemas(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true })
  return entries
    .filter((entry) => entry.endsWith('.schema.json') && !entry.startsWith('api/'))
    .sort()
    .map((entry) => join(folder, entry))
}

/** Keywords that only a validator needs. The type generator would make odd intersections of them. */
const validatorOnly = new Set(['dependentSchemas', 'dependentRequired', 'discriminator', 'propertyNames'])

function forTypes(schema: unknown): never {
  const reduce = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reduce)
    if (typeof value !== 'object' || value === null) return value
    // A description beside a $ref would give each use a type of its own: Level, Level1, Level2.
    if ('$ref' in value) return { $ref: value.$ref }
    const kept = Object.entries(value).filter(([key]) => !validatorOnly.has(key))
    return Object.fromEntries(kept.map(([key, inner]) => [key, reduce(inner)]))
  }
  return reduce(schema) as never
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  process.exitCode = await generateTypes(root, process.argv.slice(2), (line) =>
    process.stderr.write(`${line}\n`),
  )
}
