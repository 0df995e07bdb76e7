import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { installSample, startAnnex } from '../support/annex.ts'
import { compile, root } from '../support/compile.ts'
import { createPng } from '../support/create-png.ts'
import { writePlugin } from '../support/plugin-folder.ts'

/** @returns what the compiler has to say of the files, as a plugin folder of a script */
async function compileScript(files: Record<string, string>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'annex-script-types-'))
  try {
    writePlugin(folder, 'script', { files })
    const config = { extends: join(root, 'plugins/tsconfig.json'), include: ['*/**/*.ts', '*/**/*.tsx'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    return await compile(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The fields that a type names, at any depth: index signatures would take all others, too. */
const named = `import type { RuntimeEnvironment } from '@gitbook/runtime'
type Named<T> = T extends readonly unknown[] ? T
  : T extends object ? { [Key in keyof T as string extends Key ? never : Key]: Named<T[Key]> }
  : T
`

test('the type of the environment names each field that a script gets, at each level', async (context) => {
  const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: (_request, { environment }) => Response.json(environment) })`
  const more = 'icon: ./icon.png\nexternalLinks: [{ label: Help, url: https://help.example }]'
  const files = { 'icon.png': createPng(512, 512) }
  const annex = await startAnnex({ plugins: { teller: { script, more, files } } })
  context.after(annex.close)
  const { samples } = annex.server
  const { id, endpoint } = await installSample(annex, 'teller', 'site')
  const path = `/v1/integrations/teller/installations/${id}/spaces`
  const inSpace = await annex.api('POST', path, { space: samples.space })
  assert.equal(inSpace.status, 201, inSpace.text)
  const endpoints = {
    integration: `${annex.url}/x/teller`,
    installation: `${annex.url}/x/teller/${id}`,
    site: endpoint,
    space: inSpace.json.urls.publicEndpoint,
  }
  const levels: Record<string, string> = {}
  for (const [level, url] of Object.entries(endpoints)) {
    const answer = await fetch(url)
    assert.equal(answer.status, 200, level)
    levels[`${level}.ts`] =
      `${named}export const environment: Named<RuntimeEnvironment> = ${await answer.text()}`
  }
  assert.match(levels['site.ts'] ?? '', /"siteInstallation":\{"integration":"teller","installation":"inst_/)
  assert.match(levels['space.ts'] ?? '', /"spaceInstallation":\{"integration":"teller","installation":"inst_/)
  assert.equal(await compileScript(levels), '')
})

const stated = `import type { RuntimeContext, RuntimeEnvironment } from '@gitbook/runtime'
type Account = { region: string }
type Target = { greeting: string; limit?: number }

export const read = ({ environment }: RuntimeContext<RuntimeEnvironment<Account, Target>>) => {
  const { installation, siteInstallation, spaceInstallation, secrets } = environment
  const texts: (string | undefined)[] = [
    installation?.configuration.region,
    siteInstallation?.configuration.greeting,
    spaceInstallation?.configuration.greeting,
    siteInstallation?.configuration.region,
    secrets.KEY,
  ]
  // @ts-expect-error: the setting is optional
  const limit: number | undefined = siteInstallation && siteInstallation.configuration.limit.toFixed()
  // @ts-expect-error: the type names no such setting
  return [texts, limit, siteInstallation?.configuration.greting]
}

export const ofAccount = ({ installation, siteInstallation }: RuntimeEnvironment<Account>) => {
  const other: number = siteInstallation?.configuration.other
  // @ts-expect-error: the type names no such setting
  return [other, installation?.configuration.regoin]
}

export const ofSite = ({ installation, siteInstallation }: RuntimeEnvironment<any, Target>) => {
  const other: number = installation?.configuration.other
  // @ts-expect-error: a text
  const greeting: number = siteInstallation?.configuration.greeting
  return [other, greeting]
}

export const untyped = ({ installation, secrets }: RuntimeEnvironment) => {
  const settings: Account | undefined = installation?.configuration
  // @ts-expect-error: secrets are texts
  const key: number = secrets.KEY
  return [settings, key]
}
`

test('a script may state its settings: of the account, and of a site or space', async () => {
  assert.equal(await compileScript({ 'settings.ts': stated }), '')
})
