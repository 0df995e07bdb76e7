import { hash } from 'node:crypto'
import compiler from 'json-schema-to-typescript/package.json' with { type: 'json' }
import type { Manifest } from '../../../schemas/generated/manifest.ts'
import { type TypesSchema, typesSchema } from './settings-types.ts'

/** Raise it when the same schema makes another text. */
const format = 1

/**
 * The text of `generated/integration.ts` in a plugin folder. The compiler blocks its thread: a large manifest takes it
 * a fifth of a second, and loading it as much. So `kept`, a text that was made before, is returned where it begins with the
 * digest of the same schema.
 */
export async function compileTypes(manifest: Manifest, kept = ''): Promise<string> {
  const schema = typesSchema(manifest)
  const header = toHeader(schema)
  if (kept.startsWith(header)) return kept
  const { compile } = await import('json-schema-to-typescript')
  const text = await compile(schema as Parameters<typeof compile>[0], 'Integration', {
    bannerComment: header,
    additionalProperties: false,
    unknownAny: true,
    // Prettier would take ten times as long.
    format: false,
    // There is no `$ref` in it, and no file or address is read for one.
    $refOptions: { resolve: { external: false } },
  })
  return indent(text)
}

function toHeader(schema: TypesSchema): string {
  const digest = hash('sha256', JSON.stringify([format, compiler.version, schema]))
  return `// Generated from the manifest by \`annex types\`. Do not edit: edit the manifest.\n// sha256:${digest}`
}

/** Lines between braces by their depth. A line of a comment begins with a star, whatever it holds. */
function indent(text: string): string {
  let depth = 0
  let indented = ''
  for (const line of text.split('\n')) {
    const isComment = line.trim().startsWith('*')
    if (!isComment && line.startsWith('}')) depth -= 1
    if (line !== '' || depth === 0) indented += `${'  '.repeat(depth)}${line}\n`
    if (!isComment && line.endsWith('{')) depth += 1
  }
  return `${indented.trim()}\n`
}
