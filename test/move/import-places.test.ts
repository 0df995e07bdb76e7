import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { it } from 'node:test'
import { type Annex, installSample, startAnnex } from '../support/annex.ts'
import { exportText, importText } from '../support/moving.ts'
import { inTorture } from '../support/torture.ts'

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('there') })`

it('an organization goes along that its operator has called in a way of their own', inTorture, async () => {
  await using ends = new AsyncDisposableStack()
  const start = async (operator: string, dataDir: string): Promise<Annex> => {
    const plugins = { mover: { script, organization: operator } }
    const annex = await startAnnex({ plugins, dataDir, flags: { OPERATOR_ORGANIZATION: operator } })
    ends.defer(annex.close)
    return annex
  }
  const makeFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'annex-test-'))
    ends.defer(() => rmSync(folder, { recursive: true, force: true }))
    return folder
  }
  /** As older ones have made it. */
  const startAs = async (operator: string): Promise<Annex> => {
    const dataDir = makeFolder()
    await (await start('acme', dataDir)).close()
    const database = new DatabaseSync(join(dataDir, 'annex.sqlite'))
    database.prepare('update organizations set subdomain = ?').run(operator)
    database.close()
    return start(operator, dataDir)
  }
  const source = await startAs('Acme_Inc')
  const { id } = await installSample(source, 'mover')
  const file = await exportText(source, id)

  const same = await importText(await startAs('Acme_Inc'), file)
  assert.equal(same.status, 'moving', same.message)
  assert.deepEqual(same.warnings, [])

  const other = await start('acme-inc', makeFolder())
  const there = await importText(other, file)
  assert.equal(there.status, 'moving', there.message)
  assert.equal(there.warnings[0], 'The organization Acme_Inc was not here, and was made as acme-inc-2.')
  const { json } = await other.api('GET', `/v1/integrations/mover/installations/${id}`)
  assert.equal(json.target.organization, (await other.api('GET', '/v1/orgs/acme-inc-2')).json.id)
})
