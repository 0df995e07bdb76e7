import { join } from 'node:path'
import type { BuildResult, Message } from 'esbuild'
import { createProblem, maxProblems, type Problem } from '../manifest/problem.ts'
import { withoutNamespace } from './confine-imports.ts'

/** The first errors and warnings of a build, in that order. */
export const messagesOf = (result: BuildResult): { severity: Problem['severity']; message: Message }[] =>
  [
    ...result.errors.map((message) => ({ severity: 'error' as const, message })),
    ...result.warnings.map((message) => ({ severity: 'warning' as const, message })),
  ].slice(0, maxProblems)

/**
 * A message of esbuild as a problem with file and line.
 *
 * @param folder the plugin folder's path as messages show it
 * @param readText reads a file that esbuild names
 */
export async function toProblem(
  folder: string,
  severity: Problem['severity'],
  { text, location, detail, notes }: Message,
  readText: (path: string) => Promise<string>,
): Promise<Problem> {
  // Annex passes its hints as `detail`; those of esbuild are notes.
  const hint = typeof detail === 'string' ? detail : notes[0]?.text
  const complaint = { severity, ...reword(withoutNamespace(text), hint && withoutNamespace(hint)) }
  if (location === null) return createProblem(folder, '', { line: 1, column: 1 }, complaint)
  const source = await readText(location.file)
  // esbuild counts bytes of UTF-8, from 0.
  const column = toUnits(location.lineText, location.column) + 1
  const marked = {
    line: location.line,
    column,
    length: Math.max(1, toUnits(location.lineText, location.column + location.length) - column + 1),
  }
  return createProblem(join(folder, location.file), source, marked, complaint)
}

/** Rewords messages of esbuild about output formats and files of the SDK: an author knows neither. */
function reword(message: string, hint: string | undefined): { message: string; hint: string | undefined } {
  if (message.startsWith('Top-level await')) {
    return {
      message: 'a script cannot use await at its top level: it is loaded synchronously',
      hint: 'await inside a handler, and store the result in a variable',
    }
  }
  if (message.startsWith('"import.meta" is not available')) {
    return {
      message: '"import.meta" is empty in a sandbox',
      hint: 'import a file by its path, such as `import text from "./file.txt"`; settings and secrets are in context.environment',
    }
  }
  if (message.startsWith('Parameter decorators')) {
    return {
      message:
        'a parameter cannot have a decorator: decorators are those of TypeScript 5, which has them on classes and members',
      hint: 'decorate the class, a method, an accessor or a field',
    }
  }
  const name = /^No matching export in "@annex\/runtime\/[^"]*" for import (".*")$/.exec(message)?.[1]
  return { message: name === undefined ? message : `"@annex/runtime" has no export ${name}`, hint }
}

const toUnits = (line: string, bytes: number): number =>
  Buffer.from(line).subarray(0, bytes).toString('utf8').length
