export type Comment = { text: string; tags: { tag: string; text: string }[] }

/** One declaration at the top of a file, without its doc comment and its `export declare`. */
export type Declaration = {
  file: string
  name: string
  kind: 'type' | 'interface' | 'const' | 'function' | 'class' | 'namespace'
  isExported: boolean
  comment: Comment
  code: string
}

/** `name` of the module `from` is `as` here. */
type Binding = { name: string; as: string; from: string }

export type DeclarationFile = {
  path: string
  declarations: Declaration[]
  imports: Binding[]
  exports: Binding[]
}

const statement =
  /^(?:(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\n)?(export )?(?:declare )?(type|interface|const|function|class|namespace) (\w+)/gm

/**
 * Reads a formatted `.d.ts`, as TypeScript makes it of a source: each statement begins in the first column, and all
 * that does not begin one belongs to the statement before.
 */
export function parseDeclarations(path: string, text: string): DeclarationFile {
  const found = [...text.matchAll(statement)]
  const declarations = found.map((match, index): Declaration => {
    const [, comment = '', isExported, kind = '', name = ''] = match
    const end = found[index + 1]?.index ?? text.length
    const code = text.slice(match.index + comment.length, end).trim()
    return {
      file: path,
      name,
      kind: kind as Declaration['kind'],
      isExported: isExported !== undefined,
      comment: parseComment(comment),
      code: tidy(code),
    }
  })
  return { path, declarations, imports: bindings(text, 'import'), exports: bindings(text, 'export') }
}

/** `import("./x.ts").Name` is what TypeScript writes for a type that its source did not need to import. */
const tidy = (code: string): string =>
  code
    .replaceAll(/^export (?:type )?\{[^}]*\}.*$/gm, '')
    .replace(/^(?:export )?(?:declare )?/, '')
    .replaceAll(/\/\*\*\n\s*\* ([^\n]*)\n\s*\*\//g, '/** $1 */')
    .replaceAll(/\bimport\(['"][^'"]+['"]\)\./g, '')
    .trim()

const bindings = (text: string, keyword: 'import' | 'export'): Binding[] =>
  [...text.matchAll(new RegExp(`^${keyword} (?:type )?\\{([^}]*)\\} from '([^']+)'`, 'gm'))].flatMap(
    ([, names = '', from = '']) =>
      names
        .split(',')
        .map((name) => name.trim().replace(/^type /, ''))
        .filter((name) => name !== '')
        .map((name) => {
          const [original = '', as = original] = name.split(' as ')
          return { name: original, as, from }
        }),
  )

/** The text before the first tag, and each tag with its text, on one line each. */
function parseComment(comment: string): Comment {
  const lines = comment
    .replace(/^\/\*\*|\*\/$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trim())
  const [text = '', ...tags] = lines.join('\n').split(/^@/m)
  return {
    text: text.trim().replaceAll(/(?<!\n)\n(?!\n)/g, ' '),
    tags: tags.map((tag) => {
      const [name = '', ...words] = tag.trim().split(/\s+/)
      return { tag: name, text: words.join(' ') }
    }),
  }
}
