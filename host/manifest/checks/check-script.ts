import { extname } from 'node:path'
import { type Loader, transform } from 'esbuild'
import type { Manifest } from '../../../schemas/generated/manifest.ts'
import { quoteValue } from '../message-text.ts'
import type { Finding } from '../problem.ts'
import { readInside } from '../read-inside.ts'
import type { ReadOptions } from '../read-options.ts'
import { runEsbuild } from '../run-esbuild.ts'

const maxScriptBytes = 5 * 1024 * 1024
const timeoutMs = 10_000

const loaders = new Map<string, Loader>([
  ['.ts', 'ts'],
  ['.mts', 'ts'],
  ['.cts', 'ts'],
  ['.tsx', 'tsx'],
  ['.js', 'jsx'],
  ['.mjs', 'jsx'],
  ['.cjs', 'jsx'],
  ['.jsx', 'jsx'],
])

/** The script exists within the folder and calls `createIntegration` (spec 2.1). */
export async function checkScript(
  folder: string,
  manifest: Partial<Manifest>,
  { ownFiles, toPlain = toPlainScript }: Pick<ReadOptions, 'ownFiles' | 'toPlain'>,
): Promise<Finding[]> {
  const { script } = manifest
  if (script === undefined) return []
  const complain = (message: string, hint?: string): Finding[] => [
    { pointer: '/script', at: 'value', message, hint },
  ]
  const loader = loaders.get(extname(script))
  if (loader === undefined) {
    return complain(
      `the script ${quoteValue(script)} is not TypeScript or JavaScript`,
      `its name must end in ${[...loaders.keys()].join(', ')}`,
    )
  }
  const reading = await readInside(folder, script, maxScriptBytes, ownFiles)
  if ('problem' in reading) return complain(`the script ${quoteValue(script)} ${reading.problem}`)
  const plain = await toPlain(reading.bytes.toString('utf8'), loader)
  // The bundler reports syntax errors, with their line.
  if (plain === undefined || callsCreateIntegration(plain)) return []
  return complain(
    `the script ${quoteValue(script)} does not call createIntegration()`,
    'end it with: export default createIntegration({ … })',
  )
}

/**
 * A script without comments, types, JSX and templates, one statement a line: patterns can be found in it. `undefined`
 * for a syntax error.
 */
export async function toPlainScript(code: string, loader: Loader): Promise<string | undefined> {
  const work = () =>
    transform(code, {
      loader,
      format: 'cjs',
      charset: 'ascii',
      legalComments: 'none',
      sourcemap: false,
      supported: { 'template-literal': false },
      tsconfigRaw: '{}',
      logLevel: 'silent',
    })
  return (await runEsbuild(work, timeoutMs).catch(() => undefined))?.code
}

/**
 * True when a plain script calls `createIntegration`; the word in a string does not count. This check helps the author
 * and protects nothing: a script that evades it defines no integration.
 */
function callsCreateIntegration(plain: string): boolean {
  const withoutTexts = plain
    .replace(/\/\*.*?\*\//g, '')
    .replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""')
  return /(?<!function\*?\s+)(?<![\w$])createIntegration\)?\s*\(/.test(withoutTexts)
}
