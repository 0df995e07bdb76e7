import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export const manifest = `name: greeter
title: Greeter
description: Says hello.
organization: home
visibility: private
scopes: []
script: ./index.ts
configurations:
  account:
    properties:
      greeting:
        type: string
        title: Greeting
        enum: [hello, hi]
`

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('hello') })
`

/** Writes a plugin folder: a sound one, or one with other files. */
export async function writePlugin(
  folder: string,
  files: { manifest?: string; script?: string } = {},
): Promise<string> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'service-manifest.yaml'), files.manifest ?? manifest)
  await writeFile(join(folder, 'index.ts'), files.script ?? script)
  return folder
}
