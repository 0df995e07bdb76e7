import type { RequestHead } from '../../runtime/bridge.ts'
import type { ScriptTokens } from '../access/script-tokens.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/open-database.ts'
import { AnnexError } from '../errors/annex-error.ts'
import type { ReadOptions } from '../manifest/read-options.ts'
import { endpointPath, type Level } from '../sandbox/level.ts'
import type { DispatchContext, SandboxTarget } from '../sandbox/target.ts'
import { buildEnvironment, type LevelRecords } from './build-environment.ts'
import { readLevel } from './read-level.ts'

/** All that a dispatch to a level needs, but for the event itself. */
export type PreparedLevel = {
  records: LevelRecords
  target: SandboxTarget
  /** The environment as JSON text: it goes into every message as it is. */
  environment: string
}

export type PrepareDispatch = {
  /** @throws AnnexError as `readLevel`, or `installation_paused`, `installation_suspended` */
  prepare: (level: Level) => Promise<PreparedLevel>
  /** Forgets what was read: a record has changed. */
  forget: () => void
}

/** How long a reading is used again. With several hosts a change made elsewhere is seen this much later. */
const keepMs = 1000
const maxKept = 10_000

/** Reads a level once a second rather than once a request. */
export function createPrepareDispatch(given: {
  db: Db
  box: SecretBox
  tokens: ScriptTokens
  publicUrl: () => string
  reading: ReadOptions
}): PrepareDispatch {
  const kept = new Map<string, { reading: Promise<PreparedLevel>; untilMs: number }>()
  return {
    prepare(level) {
      const path = endpointPath(level)
      const found = kept.get(path)
      if (found !== undefined && found.untilMs > performance.now()) return found.reading
      if (kept.size >= maxKept) kept.clear()
      const reading = read(level)
      kept.set(path, { reading, untilMs: performance.now() + keepMs })
      reading.catch(() => kept.delete(path))
      return reading
    },
    forget: () => kept.clear(),
  }

  async function read(level: Level): Promise<PreparedLevel> {
    const records = await readLevel(given.db, level)
    assertMayRun(records)
    const { box, tokens, reading } = given
    const environment = await buildEnvironment(records, {
      box,
      tokens,
      reading,
      publicUrl: given.publicUrl(),
    })
    return { records, environment: JSON.stringify(environment), target: toTarget(records) }
  }

  function toTarget({ installation, integration, version }: LevelRecords): SandboxTarget {
    const { name, organizationId } = integration
    return {
      key: installation?.id ?? name,
      group: organizationId === given.reading.operatorOrganizationId ? 'operator' : 'third-party',
      integration: name,
      version,
    }
  }
}

/** A pending installation answers: completion and OAuth need its endpoint before it is active. */
function assertMayRun({ installation }: LevelRecords): void {
  if (installation?.status === 'paused') {
    throw new AnnexError('installation_paused', `The installation ${installation.id} is paused.`)
  }
  if (installation?.status === 'suspended') {
    throw new AnnexError(
      'installation_suspended',
      `The installation ${installation.id} is suspended${installation.statusReason ? `: ${installation.statusReason}` : ''}.`,
    )
  }
}

/** The message of a dispatch (`DispatchMessage` of the bridge) as JSON text. */
export function toMessageText(environment: string, event: { type: string }, request?: RequestHead): string {
  const head = request === undefined ? '' : `,"request":${JSON.stringify(request)}`
  return `{"event":${JSON.stringify(event)},"environment":${environment}${head}}`
}

/** On whose behalf a dispatch to the level runs. */
export function toContext(
  { level, manifest, installation }: LevelRecords,
  more: Pick<DispatchContext, 'requestId' | 'hops' | 'event'>,
): DispatchContext {
  return {
    ...more,
    level,
    integration: manifest.name,
    scopes: manifest.scopes,
    ...(installation && { installationId: installation.id, organizationId: installation.organizationId }),
  }
}
