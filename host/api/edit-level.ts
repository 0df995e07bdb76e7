import type { Context } from 'koa'
import type { Db } from '../db/db.ts'
import { type Edit, editByInstaller, editByScript, type ScriptEdit } from '../installations/configure.ts'
import type { InstalledLevel } from '../installations/level-settings.ts'
import { jsonBody } from './body.ts'
import type { OpenInstallation } from './open-installation.ts'

const editFields = {
  configuration: { type: 'object', maxProperties: 200 },
  externalIds: { type: 'array', maxItems: 50, items: { type: 'string', maxLength: 500 } },
}
const ofObject = (properties: object) => ({ type: 'object', additionalProperties: false, properties })

const personsBody = jsonBody<Edit>(ofObject(editFields))
const scriptsBody = jsonBody<ScriptEdit>(
  ofObject({
    ...editFields,
    keep: { enum: ['settings', 'all'] },
    callback: { type: 'string', maxLength: 2000 },
  }),
)

/** A PATCH of a level: a person's is checked as a whole and sets off the setup event, a script's is its own affair. */
export async function editLevel(
  db: Db,
  context: Context,
  { caller, manifest }: OpenInstallation,
  level: InstalledLevel,
): Promise<void> {
  const isPerson = caller.kind === 'operator' || caller.kind === 'organization'
  if (isPerson) await editByInstaller(db, manifest, level, await personsBody(context))
  else await editByScript(db, manifest, level, await scriptsBody(context))
}
