import type Router from '@koa/router'
import type { Context } from 'koa'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Caller } from '../access/tokens.ts'
import {
  type InstallationTarget,
  listTargets,
  type TargetKind,
} from '../db/queries/installed/installation-targets.ts'
import type { Installation } from '../db/queries/installed/installations.ts'
import { installInTarget } from '../installations/install.ts'
import { toRotatedView, toTargetView } from '../installations/installation-view.ts'
import { endOverlap, type Rotation, rotateSecret } from '../installations/rotate-secret.ts'
import { jsonBody } from './body.ts'
import { rotationSchema } from './body-schemas.ts'
import { assertPerson } from './caller.ts'
import { editLevel } from './edit-level.ts'
import { openInstallation, openTarget } from './open-installation.ts'
import type { RouteParts } from './parts.ts'

const kinds = ['site', 'space'] as const

/** The site and space installations of an installation: the same routes for both. */
export function addTargetRoutes(router: Router, parts: RouteParts): void {
  const { db, authenticate, box, signingSecrets, wake, publicUrl, prepareDispatch } = parts
  const open = (context: Context) => openInstallation(db, authenticate, context)
  const rotationBody = jsonBody<Rotation>(rotationSchema)
  for (const kind of kinds) addRoutes(kind)

  function addRoutes(kind: TargetKind): void {
    const path = `/v1/integrations/:name/installations/:id/${kind}s`

    router.get(path, async (context) => {
      const { caller, installation, manifest } = await open(context)
      const targets = await listTargets(db, { installationId: installation.id, kind })
      context.body = {
        items: targets.map((target) => view(installation, target, caller, manifest)),
        count: targets.length,
      }
    })

    const installBody = jsonBody<{ [K in TargetKind]: string }>({
      type: 'object',
      required: [kind],
      additionalProperties: false,
      properties: { [kind]: { type: 'string' } },
    })
    /** Installs in one more site or space. 201 with the signing secret of this level, shown this once. */
    router.post(path, async (context) => {
      const { caller, installation, manifest } = await open(context)
      assertPerson(caller)
      const { [kind]: name } = await installBody(context)
      const installed = await installInTarget(db, box, { installation, manifest, kind, name })
      prepareDispatch.forget()
      wake()
      context.status = 201
      context.body = {
        ...view(installation, installed.target, caller, manifest),
        signingSecret: installed.signingSecret,
      }
    })

    router.get(`${path}/:target`, async (context) => {
      const { caller, installation, manifest } = await open(context)
      context.body = view(installation, await openTarget(db, context, kind, installation), caller, manifest)
    })

    /** As PATCH of the installation, for this level. The account's settings are defaults here. */
    router.patch(`${path}/:target`, async (context) => {
      const { caller, installation, manifest } = await open(context)
      const target = await openTarget(db, context, kind, installation)
      await editLevel(db, context, { caller, installation, manifest }, { installation, target })
      prepareDispatch.forget()
      wake()
      context.body = view(installation, await openTarget(db, context, kind, installation), caller, manifest)
    })

    /** As for the installation: a new signing secret for this level. */
    router.post(`${path}/:target/signing-secret`, async (context) => {
      const { caller, installation } = await open(context)
      assertPerson(caller)
      const target = await openTarget(db, context, kind, installation)
      const rotation = await rotationBody(context)
      const rotated = await rotateSecret(db, box, { installation, target }, rotation, Date.now())
      forgetSecrets()
      context.body = toRotatedView(rotated)
    })

    /** As for the installation. */
    router.delete(`${path}/:target/signing-secret/previous`, async (context) => {
      const { caller, installation } = await open(context)
      assertPerson(caller)
      await endOverlap(db, { installation, target: await openTarget(db, context, kind, installation) })
      forgetSecrets()
      context.status = 204
    })
  }

  function forgetSecrets(): void {
    prepareDispatch.forget()
    signingSecrets.forget()
  }

  function view(
    installation: Installation,
    target: InstallationTarget,
    caller: Caller,
    manifest: Manifest,
  ): object {
    return toTargetView(installation, target, { caller, manifest, publicUrl: publicUrl() })
  }
}
