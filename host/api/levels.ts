import type { SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/db.ts'
import { AnnexError } from '../errors.ts'
import { editByInstaller, editByScript, editSetting } from '../installations/configure.ts'
import { findDeployed } from '../installations/find-deployed.ts'
import { toLevelView, toRotatedView } from '../installations/installation-view.ts'
import type { PrepareDispatch } from '../installations/prepare-dispatch.ts'
import { endOverlap, rotateSecret } from '../installations/rotate-secret.ts'
import { uninstall } from '../installations/uninstall.ts'
import type { SecretReader } from '../webhooks/signing-secrets.ts'
import { isPerson } from './caller.ts'
import type { OnOperation } from './operations.ts'
import { type LevelRequest, openLevel, openUndeployed } from './visible-records.ts'

export type LevelParts = {
  db: Db
  box: SecretBox
  signingSecrets: SecretReader
  prepareDispatch: Pick<PrepareDispatch, 'forget'>
  publicUrl: () => string
  wake: () => void
}

const operations = {
  account: {
    get: 'getIntegrationInstallationById',
    remove: 'uninstallIntegration',
    update: 'updateIntegrationInstallation',
    set: 'putInstallationSetting',
    unset: 'deleteInstallationSetting',
    rotate: 'rotateInstallationSecret',
    end: 'endInstallationSecretOverlap',
  },
  site: {
    get: 'getIntegrationSiteInstallation',
    remove: 'uninstallIntegrationFromSite',
    update: 'updateIntegrationSiteInstallation',
    set: 'putSiteInstallationSetting',
    unset: 'deleteSiteInstallationSetting',
    rotate: 'rotateSiteInstallationSecret',
    end: 'endSiteInstallationSecretOverlap',
  },
  space: {
    get: 'getIntegrationSpaceInstallation',
    remove: 'uninstallIntegrationFromSpace',
    update: 'updateIntegrationSpaceInstallation',
    set: 'putSpaceInstallationSetting',
    unset: 'deleteSpaceInstallationSetting',
    rotate: 'rotateSpaceInstallationSecret',
    end: 'endSpaceInstallationSecretOverlap',
  },
} as const

/** An installation, and its site and space installations: reading, settings and signing secrets. */
export function addLevelRoutes(on: OnOperation, parts: LevelParts): void {
  const { db, box, signingSecrets, prepareDispatch, publicUrl, wake } = parts

  for (const kind of ['account', 'site', 'space'] as const) {
    const { get, remove, update, set, unset, rotate, end } = operations[kind]

    on(get, view)

    on(remove, async (request) => {
      const level = await openUndeployed(db, request)
      const manifest = (await findDeployed(db, level.installation.integration, level.installation))?.manifest
      await uninstall(db, manifest, level)
      prepareDispatch.forget()
      wake()
    })

    on(update, async (request) => {
      const level = await openLevel(db, request)
      const { caller, body } = request
      if (!isPerson(caller)) {
        await editByScript(db, level.manifest, level, body)
      } else {
        if (body.keep !== undefined || body.callback !== undefined) throw onlyForScripts()
        await editByInstaller(db, level.manifest, level, body)
      }
      return viewEdited(request)
    })

    on(set, async (request) => {
      const level = await openLevel(db, request)
      await editSetting(db, level.manifest, level, {
        name: request.params.property,
        value: request.body.value,
      })
      return viewEdited(request)
    })

    on(unset, async (request) => {
      const level = await openLevel(db, request)
      await editSetting(db, level.manifest, level, { name: request.params.property, value: undefined })
      return viewEdited(request)
    })

    on(rotate, async (request) => {
      const level = await openLevel(db, request)
      const rotated = await rotateSecret(db, box, level, request.body, Date.now())
      forgetSecrets()
      return toRotatedView(rotated)
    })

    on(end, async (request) => {
      await endOverlap(db, await openLevel(db, request))
      forgetSecrets()
    })
  }

  function forgetSecrets(): void {
    prepareDispatch.forget()
    signingSecrets.forget()
  }

  function viewEdited(request: LevelRequest) {
    prepareDispatch.forget()
    wake()
    return view(request)
  }

  async function view(request: LevelRequest) {
    const { caller, manifest, ...level } = await openLevel(db, request)
    return toLevelView(level, { caller, manifest, publicUrl: publicUrl() })
  }
}

const onlyForScripts = (): AnnexError =>
  new AnnexError('body_invalid', 'Only a script’s edit may have "keep" and "callback". Leave them out.')
