import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Manifest } from '../../schemas/generated/manifest.ts'

/** A temporary folder with the given files, removed when the test ends. */
export async function createFolder(
  t: TestContext,
  files: Record<string, string | Uint8Array>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'annex-test-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await addFiles(folder, files)
  return folder
}

export async function addFiles(folder: string, files: Record<string, string | Uint8Array>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const full = join(folder, path)
    await mkdir(dirname(full), { recursive: true })
    await writeFile(full, content)
  }
}

export const createManifest = (fields: Partial<Manifest> = {}): Manifest => ({
  name: 'sample',
  title: 'Sample',
  description: 'A sample.',
  organization: 'home',
  visibility: 'private',
  scopes: [],
  script: 'index.ts',
  ...fields,
})

/** The smallest SDK that a bundle can be made with. */
export const createSdk = (t: TestContext): Promise<string> =>
  createFolder(t, {
    'index.ts': 'export const createIntegration = (definition: object) => definition\n',
    'jsx-runtime.ts':
      'export const jsx = (type: string, props: object) => ({ type, ...props })\nexport { jsx as jsxs, jsx as jsxDEV }\n',
  })
