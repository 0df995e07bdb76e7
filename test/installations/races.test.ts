import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { systemOrigin } from '../../host/access/actor.ts'
import { createSecretBox } from '../../host/access/secret-box.ts'
import type { Db } from '../../host/db/db.ts'
import { findInstallation, type Installation } from '../../host/db/queries/installations.ts'
import { findIntegration, retireIntegration } from '../../host/db/queries/integrations.ts'
import { keyOf, markRemoving } from '../../host/db/queries/levels.ts'
import { listInstallationIds } from '../../host/db/queries/list-installations.ts'
import { insertSite } from '../../host/db/queries/places.ts'
import { endLevel, listHoldersOfPlace } from '../../host/db/queries/uninstall.ts'
import { editByScript, editSetting } from '../../host/installations/configure.ts'
import { agreeTo } from '../../host/installations/consent.ts'
import { install, installInPlace } from '../../host/installations/install.ts'
import { pruneIntegrations } from '../../host/installations/prune.ts'
import { select } from '../../host/installations/selection.ts'
import { uninstall } from '../../host/installations/uninstall.ts'
import { normalizeManifest } from '../../host/manifest/normalize-manifest.ts'
import { deployVersion, switchVersion } from '../../host/versions/deploy-version.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { createManifest } from '../bundle/plugin-folder.ts'
import { openSeeded, type Seeded } from '../support/seeded-database.ts'

const box = createSecretBox(Buffer.alloc(32, 1))
const origin = systemOrigin
const editing = { assertFresh: () => {}, origin }

/** A request that has read its records before another one changes them. */
describe('simultaneous changes:', () => {
  let seeded: Seeded
  let db: Db
  let count = 0
  let name = ''
  before(async () => {
    seeded = await openSeeded()
    db = seeded.db
  })
  after(() => seeded.close())
  beforeEach(() => {
    count += 1
    name = `ours-${count}`
  })

  const manifestOf = (scopes: Manifest['scopes']) =>
    createManifest({ name, scopes, egress: [], visibility: 'public' })

  const deploy = (scopes: Manifest['scopes']) =>
    deployVersion(db, box, {
      manifest: normalizeManifest(manifestOf(scopes)),
      bundle: { code: '', map: '{}', inputs: {} },
      ...{ folder: name, hostId: 'here', organizationId: seeded.organizationId },
    })

  const installOurs = async (agreement: object = { version: 1, scopes: [] }): Promise<Installation> => {
    const given = { integration: name, organizationId: seeded.organizationId, agreement, origin }
    return (await install(db, box, given)).installation
  }

  /** Runs `ask` while a version is being deployed, and not before the deployment is stored. */
  async function whileDeploying<Answer>(versionId: string, ask: () => Promise<Answer>): Promise<Answer> {
    const version = await db('versions').where({ id: versionId }).first()
    let asked: Promise<Answer> | undefined
    await db.transaction(async (transaction) => {
      await switchVersion(transaction, name, version, { pinned: false })
      asked = ask()
      asked.catch(() => {})
      // PostgreSQL would answer within this time. SQLite has one writer.
      await new Promise((resolve) => setTimeout(resolve, 100))
    })
    return asked as Promise<Answer>
  }

  const heldVersion = async (id: string) => (await findInstallation(db, id))?.heldVersionId

  it('an agreement does not cover a version that is deployed in the meantime', async () => {
    await deploy([])
    const installation = await installOurs()
    await deploy(['site:views:read', 'space:content:read'])
    const third = (await findIntegration(db, name))?.versionId ?? ''
    await deploy(['site:views:read'])
    const agreed = whileDeploying(third, () =>
      agreeTo(db, installation, { version: 3, scopes: ['site:views:read'], origin }),
    )
    await assert.rejects(agreed, { code: 'agreement_missing' })
    assert.notEqual(await heldVersion(installation.id), null)
  })

  it('an install fails if it does not agree to a version that is deployed in the meantime', async () => {
    await deploy(['site:views:read'])
    const more = (await findIntegration(db, name))?.versionId ?? ''
    await deploy([])
    await assert.rejects(
      whileDeploying(more, () => installOurs({ version: 2, scopes: [] })),
      { code: 'agreement_missing' },
    )
    assert.deepEqual(await listInstallationIds(db, name), [])
  })

  it('the second of two agreements gets a conflict', async () => {
    await deploy([])
    const installation = await installOurs()
    await deploy(['site:views:read'])
    const agree = () => agreeTo(db, installation, { version: 2, scopes: ['site:views:read'], origin })
    const results = await Promise.allSettled([agree(), agree()])
    assert.deepEqual(
      results.map((result) => (result.status === 'rejected' ? result.reason.code : 'agreed')).sort(),
      ['agreed', 'conflict'],
    )
    assert.equal((await db('grants').where({ installationId: installation.id })).length, 2)
  })

  it('one of two uninstalls succeeds, and the script gets one last event', async () => {
    await deploy([])
    const installation = await installOurs()
    const remove = () => uninstall(db, manifestOf([]), installation, origin)
    const results = await Promise.allSettled([remove(), remove()])
    const codes = results.map((result) => (result.status === 'rejected' ? result.reason.code : 'done'))
    assert.deepEqual(codes.sort(), ['done', 'not_found'])
    assert.equal((await db('jobs').where({ lane: installation.id })).length, 1)
  })

  for (const when of ['has begun', 'is over']) {
    it(`an edit, a site or a selection is refused after an uninstall that ${when}`, async () => {
      await deploy([])
      const installation = await installOurs()
      const { organizationId } = seeded
      const site = await insertSite(db, { organizationId, slug: name, title: name })
      await db.transaction(async (transaction) => {
        const level = keyOf(installation)
        await markRemoving(transaction, level)
        if (when === 'is over') await endLevel(transaction, level)
      })
      const manifest = manifestOf([])
      const given = { installation, manifest }
      const edits = [
        () => editSetting(db, manifest, installation, { name: 'team', value: undefined }, editing),
        () => editByScript(db, manifest, installation, { configuration: { key: 'secret' } }, editing),
        () => installInPlace(db, box, { ...given, kind: 'site', name, origin }),
        () => select(db, box, given, { sites: 'all' }, origin),
      ]
      for (const edit of edits) await assert.rejects(edit(), { code: 'not_found' })
      assert.deepEqual(await listHoldersOfPlace(db, 'site', site?.id ?? ''), [])
      const row = await db('levels').where({ installationId: installation.id, kind: 'account' }).first()
      assert.equal(row?.configuration, when === 'is over' ? undefined : '{}')
    })
  }

  it('a folder that returns during a prune keeps its integration and installations', async () => {
    await deploy([])
    const { id } = await installOurs()
    const version = (await findIntegration(db, name))?.versionId ?? ''
    await retireIntegration(db, name)
    const pruned = await whileDeploying(version, () => pruneIntegrations(db, { installations: true }, origin))
    assert.deepEqual(
      pruned.filter((one) => one.name === name),
      [],
    )
    assert.notEqual(await findInstallation(db, id), undefined)
  })

  it('a prune skips running uninstalls, or ends them with an audit entry', async () => {
    await deploy([])
    const { organizationId } = await seeded.addOrganization(name)
    const { installation } = await install(db, box, {
      integration: name,
      organizationId,
      agreement: { version: 1, scopes: [] },
      origin,
    })
    await uninstall(db, manifestOf([]), installation, origin)
    await retireIntegration(db, name)
    assert.deepEqual(await pruneIntegrations(db, {}, origin), [])
    const pruned = await pruneIntegrations(db, { installations: true }, origin)
    assert.deepEqual(
      pruned.filter((one) => one.name === name),
      [{ name, installations: 1 }],
    )
    const entries = await db('audit').where({ subjectId: installation.id, action: 'installation.delete' })
    assert.deepEqual(
      entries.map((entry) => entry.organizationId),
      [organizationId, organizationId],
    )
    assert.deepEqual(await db('jobs').where({ lane: installation.id }), [])
  })
})
