import type Router from '@koa/router'
import type { Context } from 'koa'
import type { SecretBox } from '../access/secret-box.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import {
  findInstallation,
  type Installation,
  listInstallations,
  listTargets,
  type TargetKind,
  updateInstallation,
} from '../db/queries/installations.ts'
import { AnnexError } from '../errors.ts'
import { findDeployed, getDeployed } from '../installations/find-deployed.ts'
import { install, installInTarget } from '../installations/install.ts'
import { toInstallationView, toTargetView } from '../installations/installation-view.ts'
import { statusOf } from '../installations/level-settings.ts'
import type { PrepareDispatch } from '../installations/prepare-dispatch.ts'
import type { Suspensions } from '../installations/suspend.ts'
import { uninstall } from '../installations/uninstall.ts'
import { jsonBody } from './body.ts'
import { type Authenticate, assertPerson, namedOrganization, organizationOf } from './caller.ts'
import { openInstallation, openTarget, openUndeployed } from './visible-records.ts'

export type InstallationParts = {
  db: Db
  authenticate: Authenticate
  box: SecretBox
  prepareDispatch: Pick<PrepareDispatch, 'forget'>
  resume: Suspensions['resume']
  publicUrl: () => string
  wake: () => void
}

const installBody = jsonBody<{ organization?: string; installKey?: string }>({
  type: 'object',
  additionalProperties: false,
  properties: { organization: { type: 'string' }, installKey: { type: 'string' } },
})

/** Installing in an organization, and pausing. `levels.ts` has the settings. */
export function addInstallationRoutes(router: Router, parts: InstallationParts): void {
  const { db, authenticate, box, prepareDispatch, resume, publicUrl, wake } = parts
  const path = '/v1/integrations/:name/installations/:id'
  const open = (context: Context) => openInstallation(db, authenticate, context)

  /** Lists the installations of the caller's organization. An operator sees all, or those of `?organization=`. */
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

  /**
   * `{ organization?, installKey? }`: installs an integration in an organization. 201 with the installation, `pending`, and
   * its signing secret, which is shown once. 403 by the integration's visibility, 409 when it is installed already.
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

  /** One installation, for people who may see it and its own script. 404 for others. */
  router.get(path, async (context) => {
    const { caller, installation } = await open(context)
    context.body = await view(installation, caller)
  })

  /** Uninstalls from the organization, with all sites and spaces. 204: the script gets one last event, and then all ends. */
  router.delete(path, async (context) => {
    const { caller, installation } = await openUndeployed(db, authenticate, context)
    assertPerson(caller)
    const manifest = (await findDeployed(db, installation.integration))?.manifest
    await uninstall(db, manifest, { installation })
    prepareDispatch.forget()
    wake()
    context.status = 204
  })

  /** Pauses an installation: its events wait for a resume, and its endpoint answers 503. 409 when it is not active. */
  router.post(`${path}/pause`, async (context) => {
    const { caller, installation, manifest } = await open(context)
    assertPerson(caller)
    const status = statusOf(manifest, { installation })
    if (status !== 'active') throw wrongStatus({ ...installation, status }, 'paused', 'active')
    await updateInstallation(db, installation.id, { status: 'paused' })
    await answerChanged(context, caller, installation)
  })

  /**
   * Lifts a pause or a suspension: the installation gets the status that it had before. Waiting events are due. 409 in any
   * other status.
   */
  router.post(`${path}/resume`, async (context) => {
    const { caller, installation } = await open(context)
    assertPerson(caller)
    if (!resumable.has(installation.status)) {
      throw wrongStatus(installation, 'active', 'paused or suspended')
    }
    await resume({ installation: installation.id })
    await answerChanged(context, caller, installation)
  })

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

/** Installing in the sites and spaces of an organization: the routes are the same for both. */
export function addTargetRoutes(router: Router, parts: InstallationParts): void {
  const { db, authenticate, box, prepareDispatch, publicUrl, wake } = parts
  addRoutes('site')
  addRoutes('space')

  function addRoutes(kind: TargetKind): void {
    const path = `/v1/integrations/:name/installations/:id/${kind}s`
    const open = (context: Context) => openInstallation(db, authenticate, context)

    /** Lists the site or space installations of an installation. */
    router.get(path, async (context) => {
      const { caller, installation, manifest } = await open(context)
      const viewer = { caller, manifest, publicUrl: publicUrl() }
      const targets = await listTargets(db, { installationId: installation.id, kind })
      context.body = {
        items: targets.map((target) => toTargetView(installation, target, viewer)),
        count: targets.length,
      }
    })

    const installBody = jsonBody<{ [K in TargetKind]: string }>({
      type: 'object',
      required: [kind],
      additionalProperties: false,
      properties: { [kind]: { type: 'string' } },
    })
    /** `{ site }` or `{ space }`, an id or slug: installs there. 201 with the signing secret of this level, shown once. */
    router.post(path, async (context) => {
      const { caller, installation, manifest } = await open(context)
      assertPerson(caller)
      const { [kind]: name } = await installBody(context)
      const installed = await installInTarget(db, box, { installation, manifest, kind, name })
      prepareDispatch.forget()
      wake()
      const viewer = { caller, manifest, publicUrl: publicUrl() }
      context.status = 201
      context.body = {
        ...toTargetView(installation, installed.target, viewer),
        signingSecret: installed.signingSecret,
      }
    })

    /** One site or space installation, named by the id or slug of the site or space. */
    router.get(`${path}/:target`, async (context) => {
      const opened = await open(context)
      const { caller, installation, manifest } = opened
      const target = await openTarget(db, context, kind, opened)
      context.body = toTargetView(installation, target, { caller, manifest, publicUrl: publicUrl() })
    })

    /** Uninstalls from the site or space. 204: its script gets one last event, and then the level ends. */
    router.delete(`${path}/:target`, async (context) => {
      const { caller, installation } = await openUndeployed(db, authenticate, context)
      assertPerson(caller)
      const target = await openTarget(db, context, kind, { caller, installation })
      const manifest = (await findDeployed(db, installation.integration))?.manifest
      await uninstall(db, manifest, { installation, target })
      prepareDispatch.forget()
      wake()
      context.status = 204
    })
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
