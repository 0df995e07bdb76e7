import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSettings } from '../../host/config/load-settings.ts'
import { type RunningServer, startServer } from '../../host/server.ts'
import { type Client, createClient } from '../../schemas/client.ts'
import { agreementTo } from './agreement.ts'
import { assertErrorAnswer, createAnswerCheck } from './check-answers.ts'
import { keepTypes, reuse, shareBuilds, takeTypes } from './kept-builds.ts'
import { type PluginSource, writePlugin } from './plugin-folder.ts'
import { createStartInProcess } from './sandboxes-in-process.ts'
import { createTestDatabase, type TestDatabase } from './test-database.ts'

/** A test with a data folder of its own starts Annex on it more than once: its SQLite stays there. */
const noDatabase: TestDatabase = { url: '', drop: async () => {} }

export type Answered = { status: number; headers: Headers; text: string; json: Json }
// biome-ignore lint/suspicious/noExplicitAny: what the API answers is what the tests look into
export type Json = any

export type Annex = {
  server: RunningServer
  url: string
  pluginsDir: string
  dataDir: string
  /** A request to the API, with the operator's token unless another one is given. */
  api: (method: string, path: string, body?: unknown, token?: string) => Promise<Answered>
  /** For requests that are well formed: typed by the operations. */
  client: Client
  close: () => Promise<void>
}

type Given = {
  plugins?: Record<string, PluginSource>
  pluginsDir?: string
  flags?: Record<string, string>
  dataDir?: string
  envFile?: string
  /** For hostile scripts, and where the process is the subject. Default: scripts run in the test's own process. */
  sandboxes?: 'processes'
}

/** Starts a real Annex in this process: real isolates, real HTTP, a database of its own in a temporary folder. */
export async function startAnnex(given: Given = {}): Promise<Annex> {
  const ends = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'annex-test-'))
  ends.defer(() => rmSync(folder, { recursive: true, force: true }))
  try {
    return await start(given, folder, ends)
  } catch (error) {
    await ends.disposeAsync()
    throw error
  }
}

async function start(given: Given, folder: string, ends: AsyncDisposableStack): Promise<Annex> {
  const dataDir = given.dataDir ?? join(folder, 'data')
  const pluginsDir = given.pluginsDir ?? join(folder, 'plugins')
  mkdirSync(pluginsDir, { recursive: true })
  const folders = Object.entries(given.plugins ?? {}).map(([name, source]) =>
    writePlugin(pluginsDir, name, source),
  )
  folders.forEach(takeTypes)
  if (given.dataDir === undefined) shareBuilds(dataDir)
  const database = given.dataDir === undefined ? await createTestDatabase(dataDir) : noDatabase
  ends.defer(database.drop)
  const flags = {
    PORT: '0',
    LOG_LEVEL: 'silent',
    EGRESS_ALLOW: '127.0.0.1',
    DATA_DIR: dataDir,
    PLUGINS_DIR: pluginsDir,
    DATABASE_URL: database.url,
    // Its start costs as much CPU time as a short test.
    SANDBOX_SPARE: 'false',
    ...given.flags,
  }
  // Other limits may find other results.
  const isPlain = !Object.keys(given.flags ?? {}).some((name) => name.startsWith('SANDBOX_'))
  const environment = { HANDBOOK_STATS_REPORT_TOKEN: 'report-token', ...process.env }
  const server = await startServer(
    loadSettings({ flags, environment, envFile: given.envFile ?? '/nowhere/.env' }),
    {
      seeAnswer: createAnswerCheck(),
      reuse: isPlain ? reuse : undefined,
      startProcess: given.sandboxes === 'processes' ? undefined : createStartInProcess(),
    },
  )
  ends.defer(server.close)
  folders.forEach(keepTypes)
  const operator = readFileSync(join(dataDir, 'cli.token'), 'utf8').trim()
  return {
    server,
    url: server.url,
    pluginsDir,
    dataDir,
    api: (method, path, body, token = operator) => request(server.url, method, path, body, token),
    client: createClient({ url: server.url, token: operator }),
    close: () => ends.disposeAsync(),
  }
}

const edits: ReadonlySet<string> = new Set(['PATCH', 'PUT', 'DELETE'])

/** A request with a JSON body and a bearer token, and all of its answer. */
export async function request(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  token?: string,
): Promise<Answered> {
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      // Tests that edit do not read before: any version will do.
      ...(edits.has(method) && { 'if-match': '*' }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const json = toJson(text)
  if (response.status >= 400 && path.startsWith('/v1/')) assertErrorAnswer(json, `${method} ${path}: ${text}`)
  return { status: response.status, headers: response.headers, text, json }
}

function toJson(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Asks again until the answer is what is waited for. Fails after `seconds`, with the last answer; it says nothing of how
 * soon that is, and a machine may be busy.
 */
export async function until<T>(
  ask: () => Promise<T>,
  isThere: (value: T) => boolean,
  seconds = 120,
): Promise<T> {
  const end = Date.now() + seconds * 1000
  // A question often costs more than what it waits for: the pauses grow.
  for (let pauseMs = 10; ; pauseMs = Math.min(100, pauseMs * 1.5)) {
    const value = await ask()
    if (isThere(value)) return value
    if (Date.now() > end)
      throw new Error(`not there after ${seconds} s; the last answer: ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/** Installs an integration in the sample site or space, with settings, and waits until its setup events are done. */
export async function installSample(
  {
    api,
    client,
    server: { samples },
  }: Pick<Annex, 'api' | 'client'> & { server: Pick<Annex['server'], 'samples'> },
  integration: string,
  kind?: 'site' | 'space',
  configuration?: Record<string, unknown>,
): Promise<{ id: string; endpoint: string; secret: string; path: string }> {
  const installed = await client.call('POST /v1/integrations/{integration}/installations', {
    params: { integration },
    body: { organization: samples.organization, ...(await agreementTo({ api }, integration)) },
  })
  const account = { integration, installation: installed.id }
  await until(
    () => client.call('GET /v1/integrations/{integration}/installations/{installation}', { params: account }),
    ({ status }) => status === 'active',
  )
  const made = kind === undefined ? installed : await installAt(kind)
  if (kind !== undefined && configuration !== undefined) {
    await client.call('PATCH /v1/integrations/{integration}/installations/{installation}', {
      params: { ...account, [kind]: samples[kind] },
      body: { configuration },
      headers: { 'if-match': '*' },
    })
  }
  const level = kind === undefined ? '' : `/${kind}s/${samples[kind]}`
  return {
    id: installed.id,
    endpoint: made.urls.publicEndpoint,
    secret: made.signingSecret,
    path: `/v1/integrations/${integration}/installations/${installed.id}${level}`,
  }

  async function installAt(kind: 'site' | 'space') {
    const address = 'POST /v1/integrations/{integration}/installations/{installation}'
    return kind === 'site'
      ? client.call(`${address}/sites`, { params: account, body: { site: samples.site } })
      : client.call(`${address}/spaces`, { params: account, body: { space: samples.space } })
  }
}
