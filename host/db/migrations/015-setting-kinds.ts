import type { Knex } from 'knex'

/**
 * Notes which stored values are settings or connections: those that the running version declares. Values are sealed, so a setting
 * without a value gets the mark, too. The next edit of the level drops that mark.
 */
export async function up(db: Knex): Promise<void> {
  const versions = new Map<string, Kinds>()
  const running = await db('installations')
    .join('integrations', 'integrations.name', 'installations.integration')
    .orderBy('installations.id')
    .select('installations.id', {
      versionId: db.raw('coalesce(held_version_id, version_id, loaded_version_id)'),
    })
  for (const { id, versionId } of running) {
    if (versionId === null) continue
    const kinds = versions.get(versionId) ?? (await readKinds(db, versionId))
    versions.set(versionId, kinds)
    await markInstallation(db, id, kinds)
  }
}

/** A mark is no column: the version before reads it as details without a label and a connection. */
export async function down(): Promise<void> {}

type Level = 'account' | 'site' | 'space'
/** What each setting of a version is stored as. */
type Kinds = Record<Level, [name: string, kind: 'setting' | 'connection'][]>
type Declared = { properties?: Record<string, { type: string }> }

async function readKinds(db: Knex, id: string): Promise<Kinds> {
  const row = await db('versions').where({ id }).first('manifest')
  const { configurations = {} } = JSON.parse(row?.manifest ?? '{}') as {
    configurations?: Record<string, Declared>
  }
  const kindsOf = (level: Level): Kinds[Level] =>
    Object.entries(configurations[level]?.properties ?? {}).map(([name, { type }]) => [
      name,
      type === 'button' ? 'connection' : 'setting',
    ])
  return { account: kindsOf('account'), site: kindsOf('site'), space: kindsOf('space') }
}

async function markInstallation(db: Knex, id: string, kinds: Kinds): Promise<void> {
  if (kinds.account.length > 0) {
    const { settingDetails } = await db('installations').where({ id }).first('settingDetails')
    await db('installations')
      .where({ id })
      .update({ settingDetails: withKinds(settingDetails, kinds.account) })
  }
  if (kinds.site.length + kinds.space.length === 0) return
  for (const { kind, targetId, settingDetails } of await db('installationTargets').where({
    installationId: id,
  })) {
    await db('installationTargets')
      .where({ installationId: id, kind, targetId })
      .update({ settingDetails: withKinds(settingDetails, kinds[kind as Level]) })
  }
}

/** The sealed text of nothing. */
const empty = '{}'

function withKinds(stored: string, kinds: Kinds[Level]): string {
  const details = new Map(Object.entries<object>(JSON.parse(stored)))
  for (const [name, kind] of kinds) details.set(name, { sealed: empty, ...details.get(name), kind })
  return JSON.stringify(Object.fromEntries(details))
}
