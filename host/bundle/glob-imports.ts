import { type Loader, transform } from 'esbuild'

/**
 * Finds an import whose path has a variable part after `./` or `../`. esbuild answers it by bundling every file
 * that matches, and asks no plugin where it may look: a path such as `../../../../` and two variables would
 * walk the whole disk.
 *
 * @returns the import as esbuild reads it, shortened; nothing when there is none
 * @throws TransformFailure of esbuild when the code does not parse
 */
export async function findGlobImport(code: string, loader: Loader): Promise<string | undefined> {
  if (!mayImportLater.test(code)) return undefined
  // esbuild itself folds constants, undoes escapes and drops comments and brackets: there is one way left to write it.
  const plain = await transform(code, {
    loader,
    minifySyntax: true,
    // Without it, comments between the bracket and the path stay, block comments and line comments.
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
 * What any such import has somewhere: the name `require`, which may be written with escapes, or the word `import` with
 * something after it that begins no list of names and no path, as in `import(` and `import/**\/(`. The hundreds of
 * modules of a large package have none, and reading each twice took most of the time.
 */
const mayImportLater = /require|\\u|import\s*[^\s\w$*{"']/
