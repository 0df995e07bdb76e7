import type Router from '@koa/router'
import type { Context } from 'koa'
import type { SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/db.ts'
import type { TargetKind } from '../db/queries/installations.ts'
import {
  type Edit,
  editByInstaller,
  editByScript,
  editSetting,
  type ScriptEdit,
} from '../installations/configure.ts'
import { toInstallationView, toRotatedView, toTargetView } from '../installations/installation-view.ts'
import type { PrepareDispatch } from '../installations/prepare-dispatch.ts'
import { endOverlap, type Rotation, rotateSecret } from '../installations/rotate-secret.ts'
import type { SecretReader } from '../webhooks/signing-secrets.ts'
import { jsonBody } from './body.ts'
import { type Authenticate, assertPerson } from './caller.ts'
import { openInstallation, openTarget } from './visible-records.ts'

export type LevelParts = {
  db: Db
  authenticate: Authenticate
  box: SecretBox
  signingSecrets: SecretReader
  prepareDispatch: Pick<PrepareDispatch, 'forget'>
  publicUrl: () => string
  wake: () => void
}

const editFields = {
  configuration: { type: 'object', maxProperties: 200 },
  externalIds: { type: 'array', maxItems: 50, items: { type: 'string', maxLength: 500 } },
}
const personsBody = jsonBody<Edit>({ type: 'object', additionalProperties: false, properties: editFields })
const scriptsBody = jsonBody<ScriptEdit>({
  type: 'object',
  additionalProperties: false,
  properties: {
    ...editFields,
    keep: { enum: ['settings', 'all'] },
    callback: { type: 'string', maxLength: 2000 },
  },
})
const settingBody = jsonBody<{ value: unknown }>({
  type: 'object',
  required: ['value'],
  additionalProperties: false,
  properties: { value: {} },
})
/** A caller cannot choose a secret, as it may be weak. */
const rotationBody = jsonBody<Rotation>({
  type: 'object',
  additionalProperties: false,
  properties: {
    overlapSeconds: { type: 'integer', minimum: 0, maximum: 30 * 86_400 },
    first: { enum: ['new', 'old'] },
    again: { type: 'boolean' },
  },
})

/** Settings and signing secrets: the routes are the same for an installation and its site and space installations. */
export function addLevelRoutes(router: Router, parts: LevelParts): void {
  const { db, authenticate, box, signingSecrets, prepareDispatch, publicUrl, wake } = parts
  const installationPath = '/v1/integrations/:name/installations/:id'
  addRoutes(installationPath)
  for (const kind of ['site', 'space'] as const) addRoutes(`${installationPath}/${kind}s/:target`, kind)

  function addRoutes(path: string, kind?: TargetKind): void {
    /**
     * Replaces `configuration` (at most 200 settings) and `externalIds` (at most 50). A person's edit is checked as a whole:
     * 422 with a detail for each setting. It causes a setup event. A script's edit is stored as it is; it may add
     * `keep` and `callback`. Answers with the level.
     */
    router.patch(path, async (context) => {
      const level = await openLevel(context, kind)
      if (level.caller.kind === 'operator' || level.caller.kind === 'organization') {
        await editByInstaller(db, level.manifest, level, await personsBody(context))
      } else {
        await editByScript(db, level.manifest, level, await scriptsBody(context))
      }
      await answerEdited(context, kind)
    })

    /** `{ value }`: sets one setting. 422 with its error; a missing other setting is no error. Answers with the level. */
    router.put(`${path}/configuration/:property`, async (context) => {
      const level = await openLevel(context, kind)
      assertPerson(level.caller)
      const { value } = await settingBody(context)
      await editSetting(db, level.manifest, level, { name: String(context.params.property), value })
      await answerEdited(context, kind)
    })

    /** Removes a setting, so that its default applies. Disconnects a button. Answers with the level. */
    router.delete(`${path}/configuration/:property`, async (context) => {
      const level = await openLevel(context, kind)
      assertPerson(level.caller)
      await editSetting(db, level.manifest, level, {
        name: String(context.params.property),
        value: undefined,
      })
      await answerEdited(context, kind)
    })

    /**
     * Makes a new signing secret and shows it once. The old one signs too for `overlapSeconds` (a day; at most 30 days; 0:
     * not at all). `first` names the signature for receivers that read only one: `old` (the default) or `new`. 409 during
     * an overlap, except with `again`, which replaces the new secret, and with an overlap of 0.
     */
    router.post(`${path}/signing-secret`, async (context) => {
      const level = await openLevel(context, kind)
      assertPerson(level.caller)
      const rotation = await rotationBody(context)
      const rotated = await rotateSecret(db, box, level, rotation, Date.now())
      forgetSecrets()
      context.body = toRotatedView(rotated)
    })

    /** Ends the overlap of a rotation: the new secret signs alone. 204, also when there is no overlap. */
    router.delete(`${path}/signing-secret/previous`, async (context) => {
      const level = await openLevel(context, kind)
      assertPerson(level.caller)
      await endOverlap(db, level)
      forgetSecrets()
      context.status = 204
    })
  }

  async function openLevel(context: Context, kind: TargetKind | undefined) {
    const open = await openInstallation(db, authenticate, context)
    return kind === undefined
      ? { ...open, target: undefined }
      : { ...open, target: await openTarget(db, context, kind, open) }
  }

  function forgetSecrets(): void {
    prepareDispatch.forget()
    signingSecrets.forget()
  }

  async function answerEdited(context: Context, kind: TargetKind | undefined): Promise<void> {
    prepareDispatch.forget()
    wake()
    const { caller, manifest, installation, target } = await openLevel(context, kind)
    const viewer = { caller, manifest, publicUrl: publicUrl() }
    context.body =
      target === undefined
        ? toInstallationView(installation, viewer)
        : toTargetView(installation, target, viewer)
  }
}
