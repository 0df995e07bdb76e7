import type { Context } from 'koa'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/db.ts'
import { listSpaceIds } from '../db/queries/levels.ts'
import { AnnexError } from '../errors.ts'
import {
  answerHeld,
  type Editing,
  editByInstaller,
  editByScript,
  editSetting,
} from '../installations/configure.ts'
import { getDeployed } from '../installations/find-deployed.ts'
import { toInstallationView, toLevelView, toRotatedView } from '../installations/installation-view.ts'
import type { SettingsTag } from '../installations/level-settings.ts'
import { endOverlap, rotateSecret } from '../installations/rotate-secret.ts'
import { toSettingsForm } from '../installations/settings-form.ts'
import { uninstall } from '../installations/uninstall.ts'
import { isPerson, originOf } from './caller.ts'
import { readIfMatch } from './if-match.ts'
import type { OnOperation } from './operations.ts'
import { type LevelRequest, openLevel, openUndeployed } from './visible-records.ts'

type LevelParts = {
  db: Db
  reader: Db
  box: SecretBox
  settingsTag: SettingsTag
  publicUrl: () => string
}

type SettingsRequest = LevelRequest & { context: Context }

/** An installation, and its site and space installations: reading, settings and signing secrets. */
export function addLevelRoutes(on: OnOperation, parts: LevelParts): void {
  const { db, reader, box, settingsTag, publicUrl } = parts

  on('GET /v1/installations/{installation}', async (request) => {
    const { caller, manifest, installation } = await openLevel(reader, request)
    request.context.set('etag', settingsTag(manifest, installation))
    const spaces = await listSpaceIds(reader, installation.id)
    return toInstallationView({ ...installation, spaces }, { caller, manifest, publicUrl: publicUrl() })
  })

  on('GET /v1/integrations/{integration}/installations/{installation}', view)

  on('DELETE /v1/integrations/{integration}/installations/{installation}', async (request) => {
    const { level, manifest } = await openUndeployed(db, request)
    await uninstall(db, manifest, level, originOf(request))
  })

  on('PATCH /v1/integrations/{integration}/installations/{installation}', async (request) => {
    const { caller, level, manifest } = await openLevel(db, request)
    const { body } = request
    const editing = editingOf(request, manifest)
    if (!isPerson(caller)) {
      await editByScript(db, manifest, level, body, editing)
      return view(request)
    }
    if (body.keep !== undefined || body.connection !== undefined) throw onlyForScripts()
    return viewEdited(request, await editByInstaller(db, manifest, level, body, editing))
  })

  on('GET /v1/integrations/{integration}/installations/{installation}/configuration', async (request) => {
    const { level, installation } = await openLevel(reader, request)
    const { manifest, version } = await getDeployed(reader, installation.integration, installation)
    return toSettingsForm(manifest, version.number, level, Date.now())
  })

  on(
    'PUT /v1/integrations/{integration}/installations/{installation}/configuration/{property}',
    async (request) => {
      const { level, manifest } = await openLevel(db, request)
      const setting = { name: request.params.property, ...request.body }
      return viewEdited(
        request,
        await editSetting(db, manifest, level, setting, editingOf(request, manifest)),
      )
    },
  )

  on(
    'DELETE /v1/integrations/{integration}/installations/{installation}/configuration/{property}',
    async (request) => {
      const { level, manifest } = await openLevel(db, request)
      const setting = { name: request.params.property, value: undefined }
      return viewEdited(
        request,
        await editSetting(db, manifest, level, setting, editingOf(request, manifest)),
      )
    },
  )

  on(
    'POST /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connection',
    async (request) => {
      const { level, manifest } = await openLevel(db, request)
      const answer = { name: request.params.property, account: request.body.account }
      await answerHeld(db, manifest, level, { ...answer, origin: originOf(request) })
      return view(request)
    },
  )

  on(
    'DELETE /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connection',
    async (request) => {
      const { level, manifest } = await openLevel(db, request)
      const answer = { name: request.params.property }
      await answerHeld(db, manifest, level, { ...answer, origin: originOf(request) })
      return view(request)
    },
  )

  on('POST /v1/integrations/{integration}/installations/{installation}/signing-secret', async (request) => {
    const { level } = await openLevel(db, request)
    const rotated = await rotateSecret(db, box, level, request.body, Date.now(), originOf(request))
    return toRotatedView(rotated)
  })

  on(
    'DELETE /v1/integrations/{integration}/installations/{installation}/signing-secret/previous',
    async (request) => {
      await endOverlap(db, (await openLevel(db, request)).level, originOf(request))
    },
  )

  function editingOf(request: SettingsRequest, manifest: Manifest): Editing {
    const assertMatch = readIfMatch(request.context, request.caller)
    return {
      assertFresh: (before) => assertMatch(settingsTag(manifest, before)),
      origin: originOf(request),
    }
  }

  async function viewEdited(request: SettingsRequest, setupEvent: string | undefined) {
    return { ...(await view(request)), ...(setupEvent !== undefined && { setupEvent }) }
  }

  async function view(request: SettingsRequest) {
    const { caller, manifest, level } = await openLevel(reader, request)
    request.context.set('etag', settingsTag(manifest, level))
    const spaces = level.kind === 'account' ? await listSpaceIds(reader, level.id) : []
    return toLevelView(level, spaces, { caller, manifest, publicUrl: publicUrl() })
  }
}

const onlyForScripts = (): AnnexError =>
  new AnnexError('body_invalid', 'Only a script’s edit may have "keep" and "connection". Leave them out.')
