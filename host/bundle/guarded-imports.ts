import { build, type Loader, type OnResolveArgs, type OnResolveResult } from 'esbuild'

/** The text of a file that was loaded: esbuild hands it on with each import in the file. */
export type LoadedFile = { code: string; loader: Loader }

/** Modules that are not there, and that a script asks for inside a guard. */
export const missingNamespace = 'missing'

/**
 * In place of a module that is not there: one that throws when it is asked for, if the script is ready for that. esbuild
 * itself says whether it is (`try { require() }`, `import().catch()`), as for a build without plugins.
 *
 * @param refusal fails the bundle where one of the questions in the file stands outside of a guard
 */
export async function throwInGuard(
  { path, kind, pluginData }: OnResolveArgs,
  refusal: OnResolveResult,
): Promise<OnResolveResult> {
  if (kind === 'import-statement' || pluginData === undefined) return refusal
  if (!(await isGuarded(path, pluginData as LoadedFile))) return refusal
  // Its text stays as it is: nothing in a sandbox is called `require`.
  if (kind === 'require-resolve') return { path, external: true }
  const suffix = kind === 'dynamic-import' ? '?import' : '?require'
  return { path, suffix, namespace: missingNamespace, pluginData: refusal.errors?.[0]?.text }
}

/** A CommonJS module that throws the error of Node: packages compare its code. */
export function toThrowingModule(path: string, suffix: string, why: string): string {
  const code = suffix === '?import' ? 'ERR_MODULE_NOT_FOUND' : 'MODULE_NOT_FOUND'
  const message = `Cannot find module '${path}': ${why}`
  return `throw Object.assign(new Error(${JSON.stringify(message)}), { code: ${JSON.stringify(code)} })`
}

async function isGuarded(path: string, { code, loader }: LoadedFile): Promise<boolean> {
  const { errors } = await build({
    // Without a folder esbuild finds no file: each question that no guard is around becomes an error.
    stdin: { contents: restoreImports(code), loader },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'browser',
    jsx: 'preserve',
    tsconfigRaw: '{}',
    logLevel: 'silent',
    plugins: [
      {
        name: 'only-one-path',
        setup: ({ onResolve }) =>
          onResolve({ filter: /.*/ }, (asked) =>
            asked.kind === 'entry-point' || (asked.path === path && asked.kind !== 'import-statement')
              ? undefined
              : { path: asked.path, external: true },
          ),
      },
    ],
  }).catch((failure: { errors?: unknown[] }) => ({ errors: failure.errors ?? [failure] }))
  return errors.length === 0
}

/** TypeScript writes `import()` like this in CommonJS; esbuild does not see that a `.catch()` behind it is a guard. */
const compiledImport =
  /Promise\.resolve\(\)\.then\(\s*(?:\(\)\s*=>|function\s*\(\)\s*\{\s*return)\s*(?:[\w$.]+\(|\(0,\s*[\w$.]+\)\()?require\(("[^"\\\n]+"|'[^'\\\n]+')\)\)?\s*(?:;?\s*\})?\s*\)/g

const restoreImports = (code: string): string => code.replace(compiledImport, 'import($1)')
