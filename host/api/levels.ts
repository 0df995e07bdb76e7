import type Router from '@koa/router'
import type { Context } from 'koa'
import { editSetting } from '../installations/configure.ts'
import { toInstallationView, toTargetView } from '../installations/installation-view.ts'
import { jsonBody } from './body.ts'
import { assertPerson } from './caller.ts'
import { openInstallation, openTarget } from './open-installation.ts'
import type { RouteParts } from './parts.ts'

const installationPath = '/v1/integrations/:name/installations/:id'

/** One setting by itself, at each level (spec 3). */
export function addSettingRoutes(router: Router, parts: RouteParts): void {
  const { db, authenticate, publicUrl, prepareDispatch, wake } = parts
  addRoutes(installationPath)
  for (const kind of ['site', 'space'] as const) addRoutes(`${installationPath}/${kind}s/:target`, kind)

  function addRoutes(path: string, kind?: 'site' | 'space'): void {
    const settingBody = jsonBody<{ value: unknown }>({
      type: 'object',
      required: ['value'],
      additionalProperties: false,
      properties: { value: {} },
    })
    /** `{ value }`: sets one setting. 422 with that setting's error; a setting that is missing besides is no error. */
    router.put(`${path}/configuration/:property`, async (context) => {
      await edit(context, kind, async () => (await settingBody(context)).value)
    })

    /** Takes a setting away, so that its default counts. Of a button: disconnects it. */
    router.delete(`${path}/configuration/:property`, (context) => edit(context, kind, async () => undefined))
  }

  async function edit(
    context: Context,
    kind: 'site' | 'space' | undefined,
    read: () => Promise<unknown>,
  ): Promise<void> {
    const open = await openLevel(context, kind)
    const { caller, manifest } = open
    assertPerson(caller)
    const value = await read()
    await editSetting(db, manifest, open, { name: String(context.params.property), value })
    prepareDispatch.forget()
    wake()
    const { installation, target } = await openLevel(context, kind)
    const viewer = { caller, manifest, publicUrl: publicUrl() }
    context.body =
      target === undefined
        ? toInstallationView(installation, viewer)
        : toTargetView(installation, target, viewer)
  }

  async function openLevel(context: Context, kind: 'site' | 'space' | undefined) {
    const open = await openInstallation(db, authenticate, context)
    return kind === undefined
      ? { ...open, target: undefined }
      : { ...open, target: await openTarget(db, context, kind, open.installation) }
  }
}
