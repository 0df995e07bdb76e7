import type Router from '@koa/router'
import type { Context } from 'koa'
import type { Caller } from '../access/tokens.ts'
import {
  findInstallation,
  type Installation,
  listInstallations,
  updateInstallation,
} from '../db/queries/installed/installations.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { findDeployed, getDeployed } from '../installations/find-deployed.ts'
import { install } from '../installations/install.ts'
import { toInstallationView, toRotatedView } from '../installations/installation-view.ts'
import { statusOf } from '../installations/level-settings.ts'
import { endOverlap, type Rotation, rotateSecret } from '../installations/rotate-secret.ts'
import { jsonBody } from './body.ts'
import { rotationSchema } from './body-schemas.ts'
import { assertPerson, namedOrganization, organizationOf } from './caller.ts'
import { editLevel } from './edit-level.ts'
import { openInstallation } from './open-installation.ts'
import type { RouteParts } from './parts.ts'

/** Installing in an organization, and the settings for all of it. */
export function addInstallationRoutes(router: Router, parts: RouteParts): void {
  const { db, authenticate, box, signingSecrets, wake, publicUrl, prepareDispatch, resume } = parts
  const open = (context: Context) => openInstallation(db, authenticate, context)

  /** The installations of the caller's organization; an operator sees all, or those of `?organization=`. */
  router.get('/v1/installations', async (context) => {
    const caller = await authenticate(context)
    assertPerson(caller)
    const all = caller.kind === 'operator' && context.query.organization === undefined
    const where = all
      ? {}
      : { organizationId: (await organizationOf(db, caller, namedOrganization(context))).id }
    const items = await Promise.all((await listInstallations(db, where)).map((found) => view(found, caller)))
    context.body = { items, count: items.length }
  })

  const installBody = jsonBody<{ organization?: string; installKey?: string }>({
    type: 'object',
    additionalProperties: false,
    properties: { organization: { type: 'string' }, installKey: { type: 'string' } },
  })
  /**
   * Installs an integration in an organization: 201 with the installation, `pending`, and its signing secret,
   * which is shown this once. 403 by its visibility, 409 when it is installed there already.
   */
  router.post('/v1/integrations/:name/installations', async (context) => {
    const caller = await authenticate(context)
    const body = await installBody(context)
    const organization = await organizationOf(db, caller, body.organization)
    const { integration, manifest } = await getDeployed(db, String(context.params.name))
    const { installKey } = body
    const installed = await install(db, box, {
      integration,
      manifest,
      organizationId: organization.id,
      ...(installKey !== undefined && { installKey }),
    })
    wake()
    context.status = 201
    context.body = { ...(await view(installed.installation, caller)), signingSecret: installed.signingSecret }
  })

  router.get('/v1/integrations/:name/installations/:id', async (context) => {
    const { caller, installation } = await open(context)
    context.body = await view(installation, caller)
  })

  /**
   * Replaces `configuration` (spec 3). From a person: checked as a whole, 422 with a detail for each setting,
   * and a setup event when it was stored. From the script: stored as it is.
   */
  router.patch('/v1/integrations/:name/installations/:id', async (context) => {
    const { caller, installation, manifest } = await open(context)
    await editLevel(db, context, { caller, installation, manifest }, { installation })
    await answerChanged(context, caller, installation)
  })

  /** The events of a paused installation wait for its resume, and its endpoint answers 503. */
  router.post('/v1/integrations/:name/installations/:id/pause', async (context) => {
    const { caller, installation, manifest } = await open(context)
    assertPerson(caller)
    const status = statusOf(manifest, { installation })
    if (status !== 'active') throw wrongStatus({ ...installation, status }, 'paused', 'active')
    await updateInstallation(db, installation.id, { status: 'paused' })
    await answerChanged(context, caller, installation)
  })

  /** Lifts a pause or a suspension: the installation has its earlier status again, and its waiting events are handled. */
  router.post('/v1/integrations/:name/installations/:id/resume', async (context) => {
    const { caller, installation } = await open(context)
    assertPerson(caller)
    if (!resumable.has(installation.status)) {
      throw wrongStatus(installation, 'active', 'paused or suspended')
    }
    await resume({ installation: installation.id })
    await answerChanged(context, caller, installation)
  })

  const rotationBody = jsonBody<Rotation>(rotationSchema)
  /**
   * A new signing secret for the level, shown this once. The old one signs too for `overlapSeconds` (a day; at most 30
   * days; 0: not at all). `first` says which of both a receiver gets that reads only one: `old` (the default) or `new`. 409
   * while an overlap is under way, but for `again`, which makes its new secret anew, and for an overlap of 0.
   */
  router.post('/v1/integrations/:name/installations/:id/signing-secret', async (context) => {
    const { caller, installation } = await open(context)
    assertPerson(caller)
    const rotation = await rotationBody(context)
    context.body = toRotatedView(await rotateSecret(db, box, { installation }, rotation, Date.now()))
    forgetSecrets()
  })

  /** Ends the overlap of a rotation: the new secret signs alone. 204, also where none is under way. */
  router.delete('/v1/integrations/:name/installations/:id/signing-secret/previous', async (context) => {
    const { caller, installation } = await open(context)
    assertPerson(caller)
    await endOverlap(db, { installation })
    forgetSecrets()
    context.status = 204
  })

  function forgetSecrets(): void {
    prepareDispatch.forget()
    signingSecrets.forget()
  }

  async function answerChanged(context: Context, caller: Caller, { id }: Installation): Promise<void> {
    prepareDispatch.forget()
    wake()
    const changed = await findInstallation(db, id)
    if (changed !== undefined) context.body = await view(changed, caller)
  }

  async function view(installation: Installation, caller: Caller): Promise<object> {
    const manifest = (await findDeployed(db, installation.integration))?.manifest
    return toInstallationView(installation, { caller, manifest, publicUrl: publicUrl() })
  }
}

const resumable: ReadonlySet<string> = new Set(['paused', 'suspended'])

function wrongStatus({ id, status }: Installation, wanted: string, needed: string): AnnexError {
  const message =
    status === wanted
      ? `The installation ${id} is ${status} already.`
      : `The installation ${id} is ${status}; only one that is ${needed} can become ${wanted}.`
  return new AnnexError('conflict', message)
}
