import { hash, randomUUID } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Options, ValidateFunction } from 'ajv/dist/2020.js'
import ajvPackage from 'ajv/package.json' with { type: 'json' }

/** `formats`: the module that exports them, and its export: a record of formats as Ajv has them. */
export type CheckOptions = Omit<Options, 'formats'> & { formats?: { from: string; name: string } }

/** Beside what Node keeps of our sources, in our own folder: as it is run, nobody else may write there. */
const ownFolder = fileURLToPath(new URL('../node_modules/.cache/annex/checks', import.meta.url))

const load = createRequire(import.meta.url)

/**
 * A check of data against a schema of our own, made when it is first needed, and once. To compile that of the manifest takes a
 * tenth of a second of CPU time: what comes of it is kept as code, by Ajv's own means (https://ajv.js.org/standalone.html).
 * Where it can be neither found nor kept, it is compiled by each process.
 *
 * The schema is not checked itself, as the schema of all schemas takes longer to compile than all of ours. The tests check them.
 */
export function createCheck<T = unknown>(
  schema: object,
  options: CheckOptions = {},
  folder = ownFolder,
): () => ValidateFunction<T> {
  let check: ValidateFunction<T> | undefined
  return () => {
    check ??= find<T>(schema, options, folder)
    return check
  }
}

function find<T>(schema: object, options: CheckOptions, folder: string): ValidateFunction<T> {
  const madeOf = JSON.stringify([ajvPackage.version, options, schema])
  const file = join(folder, `${hash('sha256', madeOf)}.cjs`)
  const kept = tryTo(() => load(file))
  if (typeof kept === 'function') return kept as ValidateFunction<T>
  const { check, code } = compile<T>(schema, options)
  tryTo(() => keep(file, code))
  return check
}

function compile<T>(
  schema: object,
  { formats, ...options }: CheckOptions,
): { check: ValidateFunction<T>; code: string } {
  // Loaded only here: it takes a fortieth of a second, and a process that finds all that it needs does without.
  const { Ajv2020, _ } = load('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  const { default: toCode } = load(
    'ajv/dist/standalone/index.js',
  ) as typeof import('ajv/dist/standalone/index.js')
  const ajv = new Ajv2020({
    ...{ ...options, meta: false, validateSchema: false },
    ...(formats !== undefined && { formats: load(formats.from)[formats.name] }),
    code: {
      source: true,
      // It takes longer than all that it would ever save.
      optimize: false,
      ...(formats !== undefined && { formats: _`require(${formats.from})[${formats.name}]` }),
    },
  })
  const check = ajv.compile<T>(schema)
  return { check, code: toCode(ajv, check) }
}

/**
 * Several processes may do it at once: each writes a file of its own, and renaming is atomic. What a power cut leaves of it is no
 * code, and is made anew: nobody waits for the disk.
 */
function keep(file: string, code: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
  const temporary = `${file}.${randomUUID()}.tmp`
  writeFileSync(temporary, code)
  renameSync(temporary, file)
}

function tryTo<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
