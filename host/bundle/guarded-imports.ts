import { build, type Loader, type OnResolveArgs, type OnResolveResult } from 'esbuild'

/** A loaded file. esbuild passes it to the plugin with each import of the file. */
export type LoadedFile = { code: string; loader: Loader }

/** The namespace of missing modules that a script imports inside a guard. */
export const missingNamespace = 'missing'

/**
 * Replaces a missing module by one that throws, when each import of it is guarded (`try { require() }`,
 * `import().catch()`). esbuild recognizes guards, as in a build without plugins.
 *
 * @param refusal the result for an import without a guard
 */
export async function throwInGuard(
  { path, kind, pluginData }: OnResolveArgs,
  refusal: OnResolveResult,
): Promise<OnResolveResult> {
  if (kind === 'import-statement' || pluginData === undefined) return refusal
  if (!(await isGuarded(path, pluginData as LoadedFile))) return refusal
  // The call stays and throws: a sandbox has no `require`.
  if (kind === 'require-resolve') return { path, external: true }
  const suffix = kind === 'dynamic-import' ? '?import' : '?require'
  return { path, suffix, namespace: missingNamespace, pluginData: refusal.errors?.[0]?.text }
}

/** A CommonJS module that throws Node's error: packages compare its code. */
export function toThrowingModule(path: string, suffix: string, why: string): string {
  const code = suffix === '?import' ? 'ERR_MODULE_NOT_FOUND' : 'MODULE_NOT_FOUND'
  const message = `Cannot find module '${path}': ${why}`
  return `throw Object.assign(new Error(${JSON.stringify(message)}), { code: ${JSON.stringify(code)} })`
}

async function isGuarded(path: string, { code, loader }: LoadedFile): Promise<boolean> {
  const { errors } = await build({
    // Without a folder esbuild finds no file: each import without a guard becomes an error.
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

/** TypeScript compiles `import()` like this for CommonJS. esbuild does not recognize a `.catch()` after it as a guard. */
const compiledImport =
  /Promise\.resolve\(\)\.then\(\s*(?:\(\)\s*=>|function\s*\(\)\s*\{\s*return)\s*(?:[\w$.]+\(|\(0,\s*[\w$.]+\)\()?require\(("[^"\\\n]+"|'[^'\\\n]+')\)\)?\s*(?:;?\s*\})?\s*\)/g

const restoreImports = (code: string): string => code.replace(compiledImport, 'import($1)')
