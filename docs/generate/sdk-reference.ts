import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type Comment,
  type Declaration,
  type DeclarationFile,
  parseDeclarations,
} from './parse-declarations.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = (program: string, ...args: string[]) =>
  execFileSync(join(root, 'node_modules/.bin', program), args, { cwd: root, stdio: 'pipe' })

/** An export of the SDK: its declarations (a type and a value may share a name), and its other names. */
type Export = { name: string; aliases: string[]; declarations: Declaration[] }

/**
 * The page of all exports of an SDK, in Markdown, from the declarations that TypeScript makes of its sources.
 *
 * @param source folder that holds the SDK and all that it imports
 * @param sdk path in it of a folder with an `index.ts`, and perhaps a `jsx-runtime.ts`
 * @throws Error for an export without a doc comment
 */
export function createSdkReference(source: string, sdk: string): string {
  const files = emitDeclarations(source, join(source, sdk))
  const exported = exportsOf(files, join(sdk, 'index'))
  const jsx = exportsOf(files, join(sdk, 'jsx-runtime'))
  const isValue = ({ declarations }: Export) => declarations.some(isOfValue)
  const named = new Set([...exported, ...jsx].flatMap(({ declarations }) => declarations))
  const behind = [...reach(files, named)].filter((declaration) => !named.has(declaration)).toSorted(byName)
  return [
    ['| export | |', '|---|---|', ...exported.map(toRow)].join('\n'),
    ...section('Functions and classes', exported.filter(isValue)),
    ...section(
      'Types',
      exported.filter((entry) => !isValue(entry)),
    ),
    ...section('JSX', jsx),
    '## Types that these name',
    'The SDK exports none of them.',
    toCode(...new Set(behind.map(({ comment, code }) => `${toComment(comment)}${code}`))),
  ].join('\n\n')
}

const isOfValue = ({ kind }: Declaration): boolean => kind !== 'type' && kind !== 'interface'

const byName = (one: { name: string }, other: { name: string }): number =>
  one.name.localeCompare(other.name, 'en')

const toRow = ({ name, declarations }: Export): string => {
  const { comment } = declarations.find(isOfValue) ?? declarations[0] ?? {}
  return `| [\`${name}\`](#${name.toLowerCase()}) | ${comment?.text.split(/(?<=\.) /)[0]} |`
}

const toComment = ({ text }: Comment): string => (text === '' ? '' : `/** ${text} */\n`)
const toCode = (...code: string[]): string => `\`\`\`ts\n${code.join('\n\n')}\n\`\`\``

/** One file of declarations for each source, by its path without extensions, in the format of the house. */
function emitDeclarations(source: string, sdk: string): Map<string, DeclarationFile> {
  const folder = mkdtempSync(join(tmpdir(), 'annex-sdk-'))
  try {
    const options = { noEmit: false, declaration: true, emitDeclarationOnly: true, stripInternal: true }
    const project = {
      extends: join(root, 'runtime/tsconfig.json'),
      compilerOptions: { ...options, rootDir: source, outDir: join(folder, 'out') },
      files: globSync(['index.ts', 'jsx-runtime.ts'], { cwd: sdk }).map((file) => join(sdk, file)),
      include: [],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project))
    run('tsc', '-p', folder)
    const paths = globSync('**/*.d.ts', { cwd: join(folder, 'out') })
    // The formatter leaves out folders that are called `generated`, so all files lie in one.
    mkdirSync(join(folder, 'flat'))
    const flat = (path: string) => join(folder, 'flat', encodeURIComponent(path))
    for (const path of paths) renameSync(join(folder, 'out', path), flat(path))
    run('biome', 'format', '--write', `--config-path=${root}`, '--vcs-enabled=false', join(folder, 'flat'))
    return new Map(
      paths.map((path) => {
        const file = path.replace(/\.d\.ts$/, '')
        return [file, parseDeclarations(file, readFileSync(flat(path), 'utf8'))]
      }),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function exportsOf(files: Map<string, DeclarationFile>, entry: string): Export[] {
  const file = files.get(entry)
  if (file === undefined) return []
  const exports = new Map<string, Export>()
  const own = file.declarations.filter(({ isExported }) => isExported).map(({ name }) => ({ name, as: name }))
  for (const { name, as } of [...own, ...file.exports]) {
    const declarations = find(files, file, name)
    const [first] = declarations
    if (first === undefined) throw new Error(`${entry}: the declaration of "${name}" was not found`)
    const known = exports.get(first.name) ?? { name: first.name, aliases: [], declarations }
    if (as !== first.name) known.aliases.push(as)
    exports.set(first.name, known)
    if (!declarations.some(({ comment }) => comment.text !== '')) {
      throw new Error(`${first.file}.ts: "${name}" is exported and has no doc comment`)
    }
  }
  return [...exports.values()].toSorted(byName)
}

/** What a name in a file means: declarations of that file, or of the one that it is imported from. */
function find(files: Map<string, DeclarationFile>, file: DeclarationFile, name: string): Declaration[] {
  const own = file.declarations.filter((declaration) => declaration.name === name)
  const origin =
    [...file.imports, ...file.exports].find(({ as, from }) => as === name && from !== '') ??
    file.exports.find((entry) => entry.name === name)
  if (own.length > 0 || origin === undefined) return own
  const source = files.get(join(dirname(file.path), origin.from).replace(/\.ts$/, ''))
  return source === undefined ? [] : find(files, source, origin.name)
}

/** The declarations whose names stand in the signatures of `named`, and so on. */
function reach(files: Map<string, DeclarationFile>, named: ReadonlySet<Declaration>): Set<Declaration> {
  const reached = new Set(named)
  for (const declaration of reached) {
    const file = files.get(declaration.file)
    for (const [name] of file === undefined ? [] : declaration.code.matchAll(/\b[A-Za-z]\w+\b/g)) {
      const isType = /^[A-Z]|^create[A-Z]/.test(name)
      for (const found of isType && file ? find(files, file, name) : []) reached.add(found)
    }
  }
  return reached
}

const section = (title: string, exports: Export[]): string[] => [
  ...(exports.length === 0 ? [] : [`## ${title}`]),
  ...exports.flatMap(({ name, aliases, declarations }) => [
    `### ${name}`,
    ...declarations.flatMap(describe),
    ...(aliases.length === 0
      ? []
      : [`Also exported as ${aliases.map((alias) => `\`${alias}\``).join(', ')}.`]),
  ]),
]

const describe = ({ code, comment: { text, tags } }: Declaration): string[] => [
  ...(text === '' ? [] : [text]),
  toCode(code),
  ...(tags.length === 0 ? [] : [tags.map(({ tag, text: said }) => describeTag(tag, said)).join('\n')]),
]

const describeTag = (tag: string, text: string): string => {
  const [name = '', ...words] = text.split(' ')
  if (tag === 'param') return `- \`${name}\`: ${words.join(' ')}`
  return `- ${{ returns: 'Returns', throws: 'Throws', limit: 'Limit:' }[tag] ?? `@${tag}`} ${text}`
}
