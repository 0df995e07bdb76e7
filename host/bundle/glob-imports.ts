import { type Loader, transform } from 'esbuild'

/**
 * Finds an import whose path has a variable part after `./` or `../`. Attack: esbuild bundles each matching file without
 * asking plugins, so `../../../../` with two variables reads the whole disk.
 *
 * @returns the import as esbuild reads it, shortened
 * @throws TransformFailure for a syntax error
 */
export async function findGlobImport(code: string, loader: Loader): Promise<string | undefined> {
  if (!mayImportLater.test(code)) return undefined
  // esbuild folds constants and removes escapes, comments and brackets: one spelling is left.
  const plain = await transform(code, {
    loader,
    minifySyntax: true,
    // Otherwise comments between the bracket and the path stay.
    minifyWhitespace: true,
    legalComments: 'none',
    tsconfigRaw: '{}',
    sourcemap: false,
    logLevel: 'silent',
    jsx: 'preserve',
  })
  const calls = /\b(?:import|require)\(\s*(?:\/\*(?:[^*]|\*(?!\/))*\*\/\s*|\/\/.*\s*)*(?=["'`]\.{1,2}\/)/g
  for (const call of plain.code.matchAll(calls)) {
    const argument = plain.code.slice(call.index + call[0].length, call.index + call[0].length + 2000)
    if (/^"(?:[^"\\\n]|\\.)*"\s*[,)]|^'(?:[^'\\\n]|\\.)*'\s*[,)]|^`(?:[^`\\$]|\\.)*`\s*[,)]/.test(argument))
      continue
    return `${call[0]}${argument.split('\n', 1)[0]?.slice(0, 60)}`
  }
  return undefined
}

/**
 * Code with such an import has the name `require`, possibly with escapes, or `import` before a character that starts
 * neither names nor a path: `import(`, `import/**\/(`. Other files, which are most of a large package, are parsed once.
 */
const mayImportLater = /require|\\u|import\s*[^\s\w$*{"']/
