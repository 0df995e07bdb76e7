import { quoteValue } from '../manifest/message-text.ts'
import type { Problem } from '../manifest/problem.ts'
import type { Tsconfig } from './read-tsconfig.ts'

/** What a build takes from a plugin's `tsconfig.json`, in the names of esbuild. */
export type CompilerSettings = {
  jsx: 'automatic' | 'transform'
  jsxImportSource: string
  jsxFactory?: string
  jsxFragment?: string
  tsconfigRaw: { compilerOptions: { useDefineForClassFields?: boolean } }
}

type Options = Record<string, unknown>

/** An option that Annex does not read, and what runs instead. */
type Unread = {
  /** False for values that change nothing in what runs. */
  changes: (value: unknown, options: Options) => boolean
  instead: string
  hint?: string
}

const stated = () => true
const isTrue = (value: unknown) => value === true
const isFalse = (value: unknown) => value === false

const byItsPath = {
  changes: stated,
  instead: 'a file is imported by its path',
  hint: 'write a path that begins with ./ or ../, or give package.json such an entry: "imports": { "#lib/*": "./lib/*" }',
}
const withoutTypes = {
  instead: 'an import that only types use is left out',
  hint: 'import a file for its effects alone: import "./file.ts"',
}
const byItsKind = {
  changes: stated,
  instead: 'an ES module is strict, and a CommonJS file is where it says "use strict"',
}
const byExports = { changes: isFalse, instead: '"exports" and "imports" of package.json decide' }

const unread: Readonly<Record<string, Unread>> = {
  alwaysStrict: byItsKind,
  baseUrl: byItsPath,
  customConditions: { changes: stated, instead: 'packages are bundled for "worker", "browser" and "module"' },
  emitDecoratorMetadata: { changes: isTrue, instead: 'decorators get no metadata of types' },
  esModuleInterop: {
    changes: isFalse,
    instead: 'the default import of a CommonJS module is its "module.exports"',
  },
  experimentalDecorators: {
    changes: isTrue,
    instead: 'decorators are those of TypeScript 5: they get a value and a context',
  },
  importsNotUsedAsValues: { changes: (value) => value !== 'remove', ...withoutTypes },
  jsx: {
    changes: (value, options) => !automatic.has(lower(value)) && !isClassic(options),
    instead: 'JSX is compiled as "react-jsx"',
    hint: 'for "react", name the function in "jsxFactory"',
  },
  jsxFragmentFactory: { changes: (_, options) => !isClassic(options), instead: 'it belongs to "jsxFactory"' },
  moduleDetection: { ...byItsKind, changes: (value) => lower(value) === 'force' },
  moduleSuffixes: byItsPath,
  noImplicitUseStrict: { ...byItsKind, changes: isTrue },
  paths: byItsPath,
  preserveSymlinks: { changes: isTrue, instead: 'a link stands for the file that it leads to' },
  preserveValueImports: { changes: isTrue, ...withoutTypes },
  reactNamespace: { changes: stated, instead: 'JSX calls "jsxFactory"' },
  resolvePackageJsonExports: byExports,
  resolvePackageJsonImports: byExports,
  rootDirs: byItsPath,
  target: {
    changes: (value, { useDefineForClassFields }) =>
      useDefineForClassFields === undefined && assigning.test(lower(value)),
    instead: 'a class field is defined, and not assigned',
    hint: 'for fields that are assigned, add "useDefineForClassFields": false',
  },
  verbatimModuleSyntax: { changes: isTrue, ...withoutTypes },
}

const automatic: ReadonlySet<string> = new Set(['react-jsx', 'react-jsxdev'])
/** For these values of `target` TypeScript assigns class fields. */
const assigning = /^es(3|5|6|20(1\d|2[01]))$/

/** TypeScript ignores the case of such values. */
const lower = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : '')

/** A path of names, such as `h` or `React.createElement`. */
const isFactory = (value: unknown): value is string =>
  typeof value === 'string' &&
  /^[\p{ID_Start}$_][\p{ID_Continue}$]*(\.[\p{ID_Start}$_][\p{ID_Continue}$]*)*$/u.test(value)
const isImportSource = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'

/** JSX calls `jsxFactory`, unless `jsx` or an import source asks for the functions of a JSX runtime. */
const isClassic = ({ jsx, jsxFactory, jsxImportSource }: Options): boolean =>
  isFactory(jsxFactory) && (jsx === undefined ? !isImportSource(jsxImportSource) : !automatic.has(lower(jsx)))

/**
 * The options of a plugin's `tsconfig.json` that Annex reads, and a warning for each other one that would change what runs.
 * Attack: `extends`, `paths` and others may name any file, so esbuild gets none but those below.
 */
export function toCompilerSettings({ options, warnings, warnAt }: Tsconfig): {
  settings: CompilerSettings
  warnings: Problem[]
} {
  const { jsxFactory, jsxFragmentFactory, jsxImportSource, useDefineForClassFields } = options
  const classic = isClassic(options)
  const settings: CompilerSettings = {
    jsx: classic ? 'transform' : 'automatic',
    jsxImportSource: isImportSource(jsxImportSource) && !classic ? jsxImportSource : '@annex/runtime',
    ...(classic && { jsxFactory: String(jsxFactory) }),
    ...(classic && isFactory(jsxFragmentFactory) && { jsxFragment: jsxFragmentFactory }),
    tsconfigRaw: { compilerOptions: isBoolean(useDefineForClassFields) ? { useDefineForClassFields } : {} },
  }
  const wrong = (name: string, wanted: string) =>
    warnAt(name, {
      message: `"${name}" of tsconfig.json is not read: it is ${quoteValue(options[name])}, and no ${wanted}`,
    })
  const ignored = (name: string, instead: string, hint?: string) =>
    warnAt(name, { message: `"${name}" of tsconfig.json is not read: ${instead}`, hint })
  const found = Object.entries(options).flatMap(([name, value]): Problem[] => {
    if (value === null) return []
    if (name === 'useDefineForClassFields') return isBoolean(value) ? [] : [wrong(name, 'boolean')]
    if (name === 'jsxImportSource') {
      if (!isImportSource(value)) return [wrong(name, 'name of a package')]
      return classic ? [ignored(name, 'JSX calls "jsxFactory"')] : []
    }
    if (name === 'jsxFactory' || (name === 'jsxFragmentFactory' && classic)) {
      if (!isFactory(value)) return [wrong(name, 'name of a function')]
      return classic ? [] : [ignored(name, 'JSX is compiled as "react-jsx"')]
    }
    const rule = Object.hasOwn(unread, name) ? unread[name] : undefined
    return rule?.changes(value, options) ? [ignored(name, rule.instead, rule.hint)] : []
  })
  return { settings, warnings: [...warnings, ...found] }
}
