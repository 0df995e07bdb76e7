import type { Knex } from 'knex'

/**
 * Marks the values of settings that any kept version declares as a secret or as a button: a later version may declare a plain
 * text there. Values are sealed, so a setting without a value gets the mark, too. The next edit of the level drops that mark.
 */
export async function up(db: Knex): Promise<void> {
  for (const [integration, hidden] of await readHidden(db)) {
    const ids: string[] = await db('installations').where({ integration }).orderBy('id').pluck('id')
    for (const id of ids) {
      await markInstallation(db, id, hidden)
      await markJobs(db, id, hidden)
    }
  }
}

/** A mark is no column: the version before reads it as details without a label and a connection. */
export async function down(): Promise<void> {}

type Hidden = Record<'account' | 'site' | 'space', Set<string>>
type Kind = keyof Hidden
type Declared = { properties?: Record<string, { type: string; secret?: boolean }> }

/** The names of secrets and buttons of each integration, by level. */
async function readHidden(db: Knex): Promise<Map<string, Hidden>> {
  const found = new Map<string, Hidden>()
  const versions = db('versions')
    .whereRaw(`manifest like '%"secret":true%' or manifest like '%"type":"button"%'`)
    .select('integration', 'manifest')
  for (const { integration, manifest } of await versions) {
    const hidden = found.get(integration) ?? { account: new Set(), site: new Set(), space: new Set() }
    found.set(integration, hidden)
    const { configurations = {} } = JSON.parse(manifest) as { configurations?: Record<string, Declared> }
    for (const kind of ['account', 'site', 'space'] as const) {
      for (const [name, property] of Object.entries(configurations[kind]?.properties ?? {})) {
        if (property.secret === true || property.type === 'button') hidden[kind].add(name)
      }
    }
  }
  return found
}

async function markInstallation(db: Knex, id: string, hidden: Hidden): Promise<void> {
  const installation = await db('installations').where({ id }).first('settingDetails')
  const settingDetails = withMarks(installation.settingDetails, hidden.account)
  await db('installations').where({ id }).update({ settingDetails })
  const targets = await db('installationTargets').where({ installationId: id })
  for (const { kind, targetId, settingDetails: before } of targets) {
    const marked = withMarks(before, hidden[kind as Kind])
    await db('installationTargets')
      .where({ installationId: id, kind, targetId })
      .update({ settingDetails: marked })
  }
}

/** The sealed text of nothing. */
const empty = '{}'

function withMarks(stored: string, names: ReadonlySet<string>): string {
  const details = new Map(Object.entries<object>(JSON.parse(stored)))
  for (const name of names) details.set(name, { sealed: empty, ...details.get(name), secret: true })
  return JSON.stringify(Object.fromEntries(details))
}

/** A setup event that waits holds the settings from before an edit. */
async function markJobs(db: Knex, lane: string, hidden: Hidden): Promise<void> {
  const jobs = await db('jobs').where({ lane, kind: 'event' }).whereRaw(`subject like '%"sealed":%'`)
  for (const { id, subject: stored } of jobs) {
    const subject = JSON.parse(stored)
    const { previous } = subject.event
    if (typeof previous?.sealed !== 'string') continue
    const { kind } = subject.level
    previous.secrets = [...hidden[(kind === 'installation' ? 'account' : kind) as Kind]]
    await db('jobs')
      .where({ id })
      .update({ subject: JSON.stringify(subject) })
  }
}
