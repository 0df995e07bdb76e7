import { statfs } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Address } from '../../schemas/client.ts'
import type { Problem, ProblemFix } from '../../schemas/generated/api/problems.ts'
import { cacheReads } from '../cache.ts'
import type { Db } from '../db/db.ts'
import { installationOf } from '../db/queries/levels.ts'
import { readSubdomains } from '../db/queries/organizations.ts'
import { readPlaceTitles } from '../db/queries/places.ts'
import {
  countFailedTasks,
  countFailedWork,
  findLaneOwner,
  listDisabledReceivers,
  listEndingConnections,
  listHeld,
  listSuspended,
  listSuspendedIntegrations,
  listWithSecrets,
  type Owner,
} from '../db/queries/problems.ts'
import { messageOf } from '../errors.ts'
import { brokenConnections, credentialsName } from '../installations/connections.ts'
import { findUnfitLevels, type UnfitLevel } from '../installations/unfit-levels.ts'
import type { ReadOptions } from '../manifest/read-options.ts'
import { missingSecrets } from '../manifest/secrets.ts'
import { findLateWork, type LateWork } from '../queue/late-work.ts'
import type { LoadedPlugin } from '../versions/loaded-plugin.ts'
import { toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'

type ProblemParts = {
  /** The folders of this host at their last load. */
  plugins: () => readonly LoadedPlugin[]
  longReader: Db
  reading: ReadOptions
  dataDir: string
  settings: { PUBLIC_URL: string; DISK_FREE_MB: number }
}

/** A problem without the name of its organization. Without `since`, this host notes when it first sees it. */
type FoundProblem = Omit<Problem, 'object' | 'since' | 'organizationSubdomain'> & { since?: number }

type FixOperation = NonNullable<ProblemFix['operation']> & { address: Address }

const probeMs = 3_000
/** Of connections and of pending levels: one provider, or one version, may end all of them. */
const mostShown = 100
/** Of the settings of a pending level. */
const mostNamed = 3

/** What does not work, read from the state that is there, with the fix of each. */
export function addProblemRoutes(on: OnOperation, parts: ProblemParts): void {
  const { longReader: db, plugins, reading, dataDir, settings } = parts
  const firstSeen = new Map<string, number>()
  // Many readers must not make many requests.
  const reach = cacheReads({ keyOf: (url: string) => url, read: whyUnreachable })

  on('GET /v1/problems', async ({ caller }) => {
    // An operator sees those of all organizations: the overview of one counts the others.
    const owner = caller.kind === 'operator' ? {} : { organizationId: caller.organizationId }
    const ofHost = caller.kind === 'operator' ? await readHost() : []
    const found = [...ofHost, ...(await readInstallations(db, owner)), ...(await readSecretsOf(owner))]
    const keys = new Set(found.map(toKey))
    if (caller.kind === 'operator')
      for (const key of firstSeen.keys()) if (!keys.has(key)) firstSeen.delete(key)
    const owners = found.flatMap(({ organization }) => organization ?? [])
    const subdomains = await readSubdomains(db, new Set(owners))
    const items = found
      .map((one) => toProblem(one, subdomains))
      .sort((one, other) => (one.since < other.since ? 1 : -1))
    return { items, count: items.length }
  })

  function toProblem({ since, ...found }: FoundProblem, subdomains: ReadonlyMap<string, string>): Problem {
    const key = toKey(found)
    const at = since ?? firstSeen.get(key) ?? Date.now()
    if (since === undefined) firstSeen.set(key, at)
    const organizationSubdomain = subdomains.get(found.organization ?? '') ?? null
    return { object: 'problem', ...found, organizationSubdomain, since: toIso(at) }
  }

  async function readHost(): Promise<FoundProblem[]> {
    const host = { organization: null, subject: { kind: 'host', id: dataDir } }
    const { bavail, bsize } = await statfs(dataDir)
    const freeMb = Math.floor((bavail * bsize) / (1024 * 1024))
    const why = settings.PUBLIC_URL === '' ? undefined : await reach.get(settings.PUBLIC_URL)
    const late = await Promise.all((await findLateWork(db)).map((work) => toLate(db, work)))
    return [
      ...late,
      ...plugins()
        .filter(({ state }) => state === 'failed')
        .map(toFailedFolder),
      ...(freeMb >= settings.DISK_FREE_MB
        ? []
        : [
            {
              ...host,
              kind: 'disk' as const,
              sentence: `The disk of DATA_DIR has ${freeMb} MB left.`,
              fix: toFix(
                `Free space on the disk of ${dataDir}, or lower RETENTION_DAYS. DISK_FREE_MB sets the limit.`,
              ),
            },
          ]),
      ...(why === undefined || why === ''
        ? []
        : [
            {
              ...host,
              kind: 'public_url' as const,
              sentence: `Annex cannot reach itself at PUBLIC_URL (${settings.PUBLIC_URL}): ${why}.`,
              fix: toFix(
                'Correct PUBLIC_URL, or the proxy and DNS in front of Annex. Providers and visitors use this address.',
              ),
            },
          ]),
    ]
  }

  async function readSecretsOf(owner: Owner): Promise<FoundProblem[]> {
    const problems = new Map<string, FoundProblem>()
    for (const { name, organizationId, manifest } of await listWithSecrets(db, owner)) {
      for (const [secret, reference] of missingSecrets(JSON.parse(manifest), reading, organizationId)) {
        // A newer version of the same integration comes later.
        problems.set(`${name} ${secret}`, {
          kind: 'secret',
          organization: organizationId,
          subject: { kind: 'integration', id: name },
          sentence: `${name} runs without its secret ${secret}. What needs it is answered with an error that names it.`,
          fix: toFix(
            `Set the variable of ${reference} for Annex, and load the folders again.`,
            'reload',
            reloading,
          ),
        })
      }
    }
    return [...problems.values()]
  }
}

async function toLate(db: Db, { kind, dueForMs, lane }: LateWork): Promise<FoundProblem> {
  const isInstallation = lane.startsWith('inst_')
  return {
    kind: 'late_work',
    organization: (await findLaneOwner(db, lane)) ?? null,
    subject: { kind: isInstallation ? 'installation' : 'integration', id: lane },
    since: Date.now() - dueForMs,
    sentence: `${kind === 'event' ? 'Events' : 'Tasks'} wait for their scripts for more than a minute, the oldest one at ${lane}.`,
    fix: toFix('Give Annex more processors, or find a script that takes long.', `logs ${lane}`),
  }
}

function toFailedFolder({ folder, problems }: LoadedPlugin): FoundProblem {
  const name = basename(folder)
  const [error] = problems.filter(({ severity }) => severity === 'error')
  const why =
    error === undefined ? '' : ` ${basename(error.file)}:${error.line}:${error.column} ${error.message}`
  return {
    kind: 'folder',
    organization: null,
    subject: { kind: 'folder', id: name },
    sentence: `The plugin folder ${name} has errors, so its files are not deployed:${why}`,
    fix: toFix(
      'Read all errors by `npx annex check`, repair them, and load the folders again.',
      'reload',
      reloading,
    ),
  }
}

async function readInstallations(db: Db, owner: Owner): Promise<FoundProblem[]> {
  const [suspended, whole, held, unfit, receivers, failed, failedTasks, ending] = await Promise.all([
    listSuspended(db, owner),
    listSuspendedIntegrations(db, owner),
    listHeld(db, owner),
    findUnfitLevels(db, owner, mostShown),
    listDisabledReceivers(db, owner),
    countFailedWork(db, owner),
    countFailedTasks(db, owner),
    listEndingConnections(db, owner),
  ])
  const connections = ending
    .flatMap(({ details, ...of }) =>
      brokenConnections(details, Date.now()).map((one) => ({ ...of, ...one, since: one.since ?? of.since })),
    )
    .slice(0, mostShown)
  const placeIds = [...unfit.map(({ level }) => level.placeId), ...connections.map(({ placeId }) => placeId)]
  const titles = await readPlaceTitles(
    db,
    placeIds.filter((id) => id !== ''),
  )
  const placeOf = (id: string) => (id === '' ? '' : ` in ${titles.get(id) ?? id}`)
  return [
    ...suspended.map(
      ({ reason, ...of }): FoundProblem => ({
        ...toNoticed('suspended', of),
        sentence: `${of.integration} is suspended. ${reason}`,
        fix: toFix('Deploy a version that is repaired, or resume this one.', `resume ${of.installationId}`, {
          address: 'POST /v1/integrations/{integration}/installations/{installation}/resume',
          params: { integration: of.integration, installation: of.installationId },
          label: 'Resume the installation',
        }),
      }),
    ),
    ...whole.map(
      ({ name, organizationId, since, reason }): FoundProblem => ({
        ...{
          kind: 'suspended',
          organization: organizationId,
          subject: { kind: 'integration', id: name },
          since,
        },
        sentence: `${name} is suspended outside of its installations. ${reason}`,
        fix: toFix('Deploy a version that is repaired, or resume this one.', `resume --integration ${name}`, {
          address: 'POST /v1/integrations/{integration}/resume',
          params: { integration: name },
          label: 'Resume the integration',
        }),
      }),
    ),
    ...held.map(
      ({ version, missedCalls, ...of }): FoundProblem => ({
        ...toNoticed('waiting_version', of),
        sentence: `Version ${version} of ${of.integration} waits, as it asks for more.${describeMissed(missedCalls)}`,
        fix: toFix('See what is new, and agree.', `agree ${of.installationId}`),
      }),
    ),
    ...unfit.map((one) => toPending(one, placeOf(one.level.placeId))),
    ...receivers.map(
      ({ id, url, reason, ...of }): FoundProblem => ({
        ...toNoticed('receiver', of),
        subject: { kind: 'receiver', id },
        sentence: `The receiver ${url} of ${of.integration} is disabled. ${reason}`,
        fix: toFix('Repair the receiver, and resume it.', `receivers resume ${id}`, {
          address: 'POST /v1/receivers/{receiver}/resume',
          params: { receiver: id },
          label: 'Resume the receiver',
        }),
      }),
    ),
    ...failed.map(
      ({ count, ...of }): FoundProblem => ({
        ...toNoticed('failed_work', of),
        sentence: `${of.integration} has ${count} failed event${count === 1 ? ' or task' : 's or tasks'}.`,
        fix: toFix('Read why, and run or discard them.', `jobs list --installation ${of.installationId}`),
      }),
    ),
    ...failedTasks.map(
      ({ name, organizationId, since, count }): FoundProblem => ({
        ...{ kind: 'failed_work', organization: organizationId, subject: { kind: 'integration', id: name } },
        since,
        sentence: `${name} has ${count} failed task${count === 1 ? '' : 's'} outside of its installations.`,
        fix: toFix('Read why, and run or discard them.', 'jobs list --kind task'),
      }),
    ),
    ...connections.map(
      ({ name, error, since, placeId, ...of }): FoundProblem => ({
        ...toNoticed('connection', { ...of, since }),
        sentence: `The connection ${name} of ${of.integration}${placeOf(placeId)} is broken: ${error}`,
        fix: toFix('Connect it again.', `installations ${of.installationId}`, toConnect(name, placeId, of)),
      }),
    ),
  ]
}

function toPending({ level, version, why }: UnfitLevel, place: string): FoundProblem {
  const { id, integration, organizationId } = installationOf(level)
  const since = Math.max(Number(version.createdAt), Number(level.createdAt))
  const all = toClauses(why)
  const list = all.slice(0, mostNamed)
  const more = all.length - list.length
  const rest = more > 0 ? ` There ${more === 1 ? 'is 1' : `are ${more}`} more.` : ''
  return {
    ...toNoticed('pending', { installationId: id, organizationId, since }),
    sentence: `${integration} is pending${place} and gets no events: its settings do not fit version ${version.number}. ${list.join('; ')}.${rest}`,
    fix: toFix('Give each of these settings a value that fits.', `installations ${id}`),
  }
}

/** What is wrong, a clause for each setting. Settings of which one must be on have one message that names them all. */
function toClauses(why: UnfitLevel['why']): string[] {
  const said = new Set<string>()
  return why.flatMap(({ path, message }) => {
    const name = path.split('/').at(-1) ?? ''
    if (said.has(message) && message.includes(name)) return []
    said.add(message)
    return message.startsWith('there is no') ? message : `${name} ${message}`
  })
}

/** @param command the arguments of `npx annex` */
const toFix = (text: string, command?: string, operation: FixOperation | null = null): ProblemFix => ({
  text,
  command: command === undefined ? null : `npx annex ${command}`,
  operation,
})

const reloading = { address: 'POST /v1/reload', params: {}, label: 'Load the folders again' } as const

/** A connection without a button begins at a path of the script that Annex does not know. */
function toConnect(
  name: string,
  placeId: string,
  { integration, installationId: installation }: { integration: string; installationId: string },
): FixOperation | null {
  if (name === credentialsName) return null
  const place = placeId === '' ? {} : { [placeId.startsWith('site_') ? 'site' : 'space']: placeId }
  return {
    address:
      'POST /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connect',
    params: { integration, installation, ...place, property: name },
    label: 'Connect again',
  }
}

const describeMissed = (count: number): string =>
  count === 0
    ? ''
    : ` Meanwhile ${count === 1 ? '1 request' : `${count} requests`} of it did not reach this installation.`

const toNoticed = (
  kind: Problem['kind'],
  of: { installationId: string; organizationId: string; since: number },
) => ({
  kind,
  organization: of.organizationId,
  subject: { kind: 'installation', id: of.installationId },
  since: Number(of.since),
})

const toKey = ({ kind, subject, sentence }: Pick<Problem, 'kind' | 'subject' | 'sentence'>): string =>
  // The free space and the count of missed requests change from reading to reading.
  `${kind} ${subject.id} ${kind === 'disk' || kind === 'waiting_version' ? '' : sentence}`

/** @returns an empty text when Annex answers there */
async function whyUnreachable(publicUrl: string): Promise<string> {
  try {
    const response = await fetch(`${publicUrl.replace(/\/+$/, '')}/healthz`, {
      redirect: 'error',
      signal: AbortSignal.timeout(probeMs),
    })
    if (!response.ok) return `/healthz answers ${response.status}`
    const answer: unknown = await response.json().catch(() => undefined)
    return JSON.stringify(answer) === '{"status":"ok"}' ? '' : 'another server answers there'
  } catch (error) {
    const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return messageOf(inner)
  }
}
