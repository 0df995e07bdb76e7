import type { Knex } from 'knex'

/**
 * Marks the settings whose values count as typed by a person: those that the running version declares as a text, in a level
 * without a component. Nothing tells who stored them. Values are sealed, so a setting without a value gets the mark, too. The next
 * edit of the level drops that mark.
 */
export async function up(db: Knex): Promise<void> {
  const read = createReader(db)
  const installations = await db('installations')
    .join('integrations', 'integrations.name', 'installations.integration')
    .whereNull('removedAt')
    .orderBy('id')
    .select('id', 'integration', 'heldVersionId', 'versionId')
  for (const { id, integration, heldVersionId, versionId } of installations) {
    const names = await read(integration, heldVersionId ?? versionId)
    if (names.account.length > 0) await mark(db, 'installations', { id }, names.account)
    for (const kind of ['site', 'space'] as const) {
      if (names[kind].length === 0) continue
      const targets = await db('installationTargets').where({ installationId: id, kind }).select('targetId')
      for (const { targetId } of targets) {
        await mark(db, 'installationTargets', { installationId: id, kind, targetId }, names[kind])
      }
    }
  }
}

/** A mark is no column: the version before reads it as details without a label and a connection. */
export async function down(): Promise<void> {}

type Names = Record<'account' | 'site' | 'space', string[]>
type Declared = {
  componentId?: string
  properties?: Record<string, { type: string; completion_url?: string }>
}

/** Reads the names of text settings, each version once. A folder that is gone has its newest version. */
function createReader(db: Knex): (integration: string, versionId: string | null) => Promise<Names> {
  const known = new Map<string, Names>()
  return async (integration, versionId) => {
    const key = versionId ?? integration
    const names =
      known.get(key) ?? (await readNames(db, versionId === null ? { integration } : { id: versionId }))
    known.set(key, names)
    return names
  }
}

async function readNames(db: Knex, where: object): Promise<Names> {
  const version = await db('versions').where(where).orderBy('number', 'desc').first('manifest')
  const { configurations = {} } = JSON.parse(version?.manifest ?? '{}') as {
    configurations?: Partial<Record<keyof Names, Declared>>
  }
  const namesOf = ({ componentId, properties = {} }: Declared = {}) =>
    Object.entries(properties).flatMap(([name, { type, completion_url }]) =>
      componentId === undefined && type === 'string' && completion_url === undefined ? [name] : [],
    )
  return {
    account: namesOf(configurations.account),
    site: namesOf(configurations.site),
    space: namesOf(configurations.space),
  }
}

/** The sealed text of nothing. */
const empty = '{}'

async function mark(
  db: Knex,
  table: 'installations' | 'installationTargets',
  where: object,
  names: readonly string[],
): Promise<void> {
  const { settingDetails: stored } = await db(table).where(where).first('settingDetails')
  const details = new Map(Object.entries<object>(JSON.parse(stored)))
  for (const name of names) details.set(name, { sealed: empty, ...details.get(name), typed: true })
  await db(table)
    .where(where)
    .update({ settingDetails: JSON.stringify(Object.fromEntries(details)) })
}
