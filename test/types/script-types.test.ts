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
const compileScript = (files: Record<string, string>): Promise<string> =>
  compileFolders((folder) => writePlugin(folder, 'script', { files }))

async function compileFolders(write: (pluginsDir: string) => void): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'annex-script-types-'))
  try {
    write(folder)
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

test('the type of the environment has each field of a script’s environment, at each level', async (context) => {
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

const signIn = `import {
  createIntegration,
  type FetchVisitorAuthenticationEventCallback,
  type RuntimeContext,
  type RuntimeEnvironment,
} from '@gitbook/runtime'

interface SignInSettings { provider: string; client_id?: string }
type SignInContext = RuntimeContext<RuntimeEnvironment<{}, SignInSettings>>
type Environment = SignInContext['environment']

const ownInstallationOf = ({ siteInstallation }: Environment) => {
  if (siteInstallation === undefined) throw new Error('Not in a site')
  const installation: string = siteInstallation.installation
  return { ...siteInstallation, installation }
}

const visit: FetchVisitorAuthenticationEventCallback = async (event, { environment }: SignInContext) => {
  const { configuration, urls } = ownInstallationOf(environment)
  const url = new URL(configuration.provider)
  url.searchParams.set('client_id', configuration.client_id ?? '')
  url.searchParams.set('redirect_uri', urls.publicEndpoint)
  url.searchParams.set('state', event.location ?? '')
  return Response.redirect(url.href)
}

export default createIntegration<SignInContext>({
  async fetch(request, { api, environment }) {
    const { code } = await request.json<{ code: string }>()
    const { configuration, installation, site } = ownInstallationOf(environment)
    const answer = await fetch(configuration.provider, { method: 'POST', body: code })
    const { name } = await answer.json<{ name: string }>()
    const target = environment.installation?.target
    if (target === undefined) return new Response('Not installed', { status: 404 })
    const { data } = await api.orgs.getSiteById(target.organization, site)
    return Response.json({ name: name.trim(), installation, published: data.urls.published })
  },
  fetch_visitor_authentication: visit,
})
`

test('a sign-in script of the reference platform compiles', async () => {
  assert.equal(await compileScript({ 'index.ts': signIn }), '')
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

test('a script may state its settings, of the account and of a site or space', async () => {
  assert.equal(await compileScript({ 'settings.ts': stated }), '')
})

const json = `import '@annex/runtime'
type Greeting = { hello: string }
export const read = async (request: Request, response: Response) => {
  const asked: Greeting = await request.json<Greeting>()
  // @ts-expect-error: a text
  const hello: number = (await response.json<Greeting>()).hello
  const contextual: Greeting = await response.clone().json()
  const any: number = (await new Response('{}').json()).of.any.depth
  return [asked, hello, contextual, any]
}
`

test('json() of a request or response takes the type of its value, and is any without', async () => {
  assert.equal(await compileScript({ 'json.ts': json }), '')
})

const component = `import { createComponent, createIntegration, type RuntimeContext, type RuntimeEnvironment } from '@gitbook/runtime'
interface Props { url?: string }
interface State { title: string; open?: boolean }
type Acts = { action: '@link.unfurl'; url: string } | { action: 'save'; sure: boolean } | { action: 'close' }
type ClipContext = RuntimeContext<RuntimeEnvironment<{}, { player: string }>>

const clip = createComponent<Props, State, Acts, ClipContext>({
  componentId: 'clip',
  initialState: ({ url = '' }) => ({ title: url }),
  async action(element, action, { environment }) {
    switch (action.action) {
      case '@link.unfurl':
        return { props: { url: new URL(action.url).href } }
      case 'save':
        if (action.sure) return { type: 'complete', returnValue: environment.siteInstallation?.configuration.player }
        return { ...element, state: { ...element.state, open: true } }
      case 'close':
        return { type: 'complete' }
    }
    // @ts-expect-error: all actions were handled
    action.action
    return element
  },
  render: async ({ state }) => ({ type: 'text', children: [state.title] }),
})

createComponent<Props, State, Acts>({
  componentId: 'wrong',
  // @ts-expect-error: the state has no such type
  action: (element, action) => (action.action === 'close' ? { state: { title: 1 } } : element),
  render: () => null,
})

const plain = createComponent({
  componentId: 'plain',
  // @ts-expect-error: an action of no stated type has unknown fields
  action: (_element, action) => ({ props: { url: action.url.href } }),
  render: () => null,
})

const annotated = createComponent({
  componentId: 'annotated',
  action: (_element, action: { action: 'open'; url: string }) => ({ props: { url: action.url.trim() } }),
  render: () => null,
})

export default createIntegration<ClipContext>({ components: [clip, plain, annotated] })
`

test('a component states the types of its properties, state, actions and context', async () => {
  assert.equal(await compileScript({ 'component.ts': component }), '')
})

const sources = `import {
  type ContentSourceInput,
  createContentSource,
  createIntegration,
  type RuntimeContext,
  type RuntimeEnvironment,
} from '@gitbook/runtime'
type Menu = ContentSourceInput<{ courses: string }, { note: { ref: { kind: 'file' } }; tray?: { ref: object } }>
interface Course { course: string; kind: 'soup' | 'pie' }
type MenuContext = RuntimeContext<RuntimeEnvironment<{ chef: string }>>

const menu = createContentSource<Menu['props'], Course, Menu['dependencies'], MenuContext>({
  sourceId: 'menu',
  async getRevision({ props, dependencies }, { environment }) {
    const titles = [props.courses, environment.installation?.configuration.chef, dependencies.tray?.value.title]
    // @ts-expect-error: the dependency may be missing
    titles.push(dependencies.tray.value)
    // @ts-expect-error: a property of a page
    titles.push(props.course)
    return { pages: titles.map((title) => ({ type: 'document', title: title?.trim() })) }
  },
  async getPageDocument({ props, dependencies: { note } }) {
    // @ts-expect-error: a property of the tree
    const { courses } = props
    // @ts-expect-error: another kind
    const isPage = note.ref.kind === 'page'
    return { nodes: [props.course, props.kind === 'pie', note.value.nodes, courses, isPage] }
  },
})

const ofOne = createContentSource<{ course: string }>({
  sourceId: 'one',
  getRevision: ({ props, dependencies }, { environment }) => {
    // @ts-expect-error: the script states no dependencies
    dependencies.note.value
    return { pages: [{ title: props.course + environment.apiEndpoint }] }
  },
  getPageDocument: ({ props }) => ({ nodes: [props.course.trim()] }),
})

const ofContext = createContentSource<MenuContext>({
  sourceId: 'of-context',
  getRevision: ({ props }, { environment }) => {
    // @ts-expect-error: unknown
    props.course.trim()
    return { pages: [environment.installation?.configuration.chef.trim()] }
  },
})

const untyped = createContentSource({
  sourceId: 'untyped',
  // @ts-expect-error: unknown
  getRevision: ({ props }) => ({ pages: [props.course.trim()] }),
  getPageDocument: ({ props }: { props: { course: string } }) => ({ nodes: [props.course.trim()] }),
})

export default createIntegration<MenuContext>({ contentSources: [menu, ofOne, ofContext, untyped] })
`

test('a content source states the types of its input and context', async () => {
  assert.equal(await compileScript({ 'sources.ts': sources }), '')
})

const tasks = `import { createIntegration, type RuntimeContext, type RuntimeEnvironment, type TaskHandler } from '@gitbook/runtime'
type Remind = { type: 'remind'; of: string } | { type: 'forget'; payload: { days: number } }
type RemindContext = RuntimeContext<RuntimeEnvironment<{ greeting: string }>>

const remind: TaskHandler<RemindContext, Remind> = (task, { environment }) => {
  if (task.type === 'forget') return task.payload.days.toFixed()
  // @ts-expect-error: a field of the other task
  task.payload
  return task.of.trim() + environment.installation?.configuration.greeting.trim()
}
const untyped: TaskHandler = async (task, { integration }) => {
  // @ts-expect-error: unknown
  task.of.trim()
  const next: Remind = { type: 'remind', of: String(task.of) }
  await integration.queueTask({ task: next, schedule: 1 })
}

export default [
  createIntegration<RemindContext>({ task: remind }),
  createIntegration({ task: untyped }),
  createIntegration({ task: async (task: Remind) => task.type }),
  createIntegration<RemindContext>({ task: async (task: Remind, context) => remind(task, context) }),
  // @ts-expect-error: unknown
  createIntegration<RemindContext>({ task: (task) => task.of.trim() }),
  // @ts-expect-error: a task is an object
  createIntegration({ task: (task: string) => task }),
]
`

test('a task handler states the type of its tasks', async () => {
  assert.equal(await compileScript({ 'tasks.ts': tasks }), '')
})

const text = `import { createIntegration } from '@gitbook/runtime'
import page from './page.raw.js'
// @ts-expect-error: a text
page.replace(1, '')
export default createIntegration({ fetch_published_script: () => new Response(page.replace('<ID>', '1')) })
`
const declaration = (name: string) =>
  `declare module '*.raw.js' { const ${name}: string; export default ${name} }`

test('a file .raw.js is a text, also if the script declares that itself', async () => {
  const files = { 'index.ts': text, 'page.raw.js': '(() => console.log("<ID>"))()' }
  assert.equal(await compileScript(files), '')
  for (const name of ['text', 'content']) {
    assert.equal(await compileScript({ ...files, 'types.d.ts': declaration(name) }), '')
  }
})

const unstated = `import {
  createIntegration,
  type FetchEventCallback,
  type RuntimeContext,
  type RuntimeEnvironment,
} from '@gitbook/runtime'
type Site = RuntimeEnvironment<{}, { issuer: string }>
const issuerOf = ({ siteInstallation }: Site): string => siteInstallation?.configuration.issuer ?? ''
const fetchIssuer: FetchEventCallback<RuntimeContext<Site>> = (_request, { environment }) => fetch(issuerOf(environment))

export const unstated = createIntegration({
  fetch: (_request, { environment }) => fetch(environment.installation?.configuration.hook ?? issuerOf(environment)),
  events: {
    site_view: (event, { environment }) => {
      // @ts-expect-error: the level may be missing
      environment.siteInstallation.configuration.issuer.trim()
      // @ts-expect-error: no field of the environment
      environment.sitInstallation
    },
  },
})

export const inferred = createIntegration({
  fetch: fetchIssuer,
  fetch_visitor_authentication: (_event, { environment }) => {
    // @ts-expect-error: a text
    const issuer: number | undefined = environment.siteInstallation?.configuration.issuer
    return Response.redirect(String(issuer))
  },
})
`

test('createIntegration accepts the context of a handler, and any settings without one', async () => {
  assert.equal(await compileScript({ 'unstated.ts': unstated }), '')
})
