import { extname } from 'node:path'
import { type Loader, transform } from 'esbuild'
import type { Manifest } from '../../../schemas/generated/manifest.ts'
import { quoteValue } from '../problems/visible-text.ts'
import { readInside } from '../read-inside.ts'
import { runEsbuild } from '../run-esbuild.ts'
import type { Finding } from './finding.ts'

const maxScriptBytes = 5 * 1024 * 1024
const timeoutMs = 10_000

const loaders = new Map<string, Loader>([
  ['.ts', 'ts'],
  ['.mts', 'ts'],
  ['.tsx', 'tsx'],
  ['.js', 'jsx'],
  ['.mjs', 'jsx'],
  ['.jsx', 'jsx'],
])

/** The script exists, within the folder, and calls `createIntegration` (spec 2.1). */
export async function checkScript(folder: string, manifest: Partial<Manifest>): Promise<Finding[]> {
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
  const reading = await readInside(folder, script, maxScriptBytes)
  if ('problem' in reading) return complain(`the script ${quoteValue(script)} ${reading.problem}`)
  if (await callsCreateIntegration(reading.bytes.toString('utf8'), loader)) return []
  return complain(
    `the script ${quoteValue(script)} does not call createIntegration()`,
    'end it with: export default createIntegration({ … })',
  )
}

/**
 * Whether code calls a function named `createIntegration`. A comment or a text that holds the word does not
 * count. True for code that does not parse: the bundler reports that, with its line.
 *
 * This is a courtesy to the author, not a wall: a script that fools it defines no integration and answers nothing.
 */
async function callsCreateIntegration(code: string, loader: Loader): Promise<boolean> {
  // esbuild drops comments and types and JSX, turns templates into plain texts, and puts each statement on
  // lines of its own, so that what is left can be read with patterns.
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
  const plain = await runEsbuild(work, timeoutMs).catch(() => undefined)
  if (plain === undefined) return true
  const withoutTexts = plain.code
    .replace(/\/\*.*?\*\//g, '')
    .replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""')
  return /(?<!function\*?\s+)(?<![\w$])createIntegration\)?\s*\(/.test(withoutTexts)
}
