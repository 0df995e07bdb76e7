import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A plugin as a test writes it: settings of its manifest, and its script. */
export type PluginSource = {
  organization?: string
  scopes?: string[]
  visibility?: 'private' | 'unlisted' | 'public'
  /** YAML that is added to the manifest. */
  more?: string
  /** Default: the manifest names none. */
  script?: string
  files?: Record<string, string | Uint8Array>
}

/** Writes a plugin folder as an integrator would drop it. @returns its path */
export function writePlugin(pluginsDir: string, name: string, source: PluginSource): string {
  const { organization = 'home', scopes = [], visibility = 'public', more = '', script, files = {} } = source
  const manifest = [
    `name: ${name}`,
    `title: ${name}`,
    `description: A plugin of a test.`,
    `organization: ${organization}`,
    `visibility: ${visibility}`,
    `scopes: [${scopes.map((scope) => JSON.stringify(scope)).join(', ')}]`,
    script === undefined ? '' : 'script: ./index.ts',
    more,
  ].join('\n')
  const all = {
    'service-manifest.yaml': manifest,
    ...(script !== undefined && { 'index.ts': script }),
    ...files,
  }
  for (const [path, text] of Object.entries(all)) {
    const file = join(pluginsDir, name, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  return join(pluginsDir, name)
}
