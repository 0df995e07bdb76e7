import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import vm from 'node:vm'
import { type Bundling, bundleScript } from '../../host/bundle/bundle-script.ts'
import { formatProblem } from '../../host/manifest/problem.ts'
import { createFolder, createManifest, createSdk } from './plugin-folder.ts'

export type Files = Record<string, string | Uint8Array>

export async function bundle(t: TestContext, files: Files, script = 'index.ts'): Promise<Bundling> {
  const folder = await createFolder(t, files)
  return await bundleScript(folder, createManifest({ script }), { sdkFolder: await createSdk(t) })
}

/** The problems of a bundle that must fail, as text without the temporary folder. */
export const textOf = ({ bundle, problems }: Bundling): string => {
  assert.equal(bundle, undefined, 'the bundle was made')
  return problems
    .map((problem) =>
      formatProblem({ ...problem, file: problem.file.replace(/^.*annex-test-\w+\/?/, '') }, { color: false }),
    )
    .join('\n\n')
}

/** Runs a bundle as the sandbox process does, and returns what the script exports by default. */
export function run({ bundle, problems }: Bundling, globals: object = {}): Record<string, unknown> {
  assert.deepEqual(problems, [])
  assert.ok(bundle)
  const module = { exports: { default: {} as Record<string, unknown> } }
  const define = (body: (target: typeof module) => void) => body(module)
  vm.runInNewContext(bundle.code, { __annexDefine: define, ...globals }, { filename: 'annex:sample' })
  return module.exports.default
}
