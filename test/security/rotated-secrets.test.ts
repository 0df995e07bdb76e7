import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { openSecretBox } from '../../host/access/open-secret-box.ts'
import { openDatabase } from '../../host/db/open-database.ts'
import { installSample, type Json, startAnnex, until } from '../support/annex.ts'

/** Logs whatever it is told to, as a careless script would its secrets. */
const teller = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request) => { console.log(await request.text()); return new Response('logged') },
})`

describe('secrets that were rotated', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'annex-rotated-'))
  const start = () => startAnnex({ sandboxes: 'processes', dataDir, plugins: { teller: { script: teller } } })
  let installationId = ''
  let [old, current] = ['', '']
  before(async () => {
    const annex = await start()
    try {
      const { id, path, secret } = await installSample(annex, 'teller')
      installationId = id
      old = secret
      current = (await annex.api('POST', `${path}/signing-secret`, {})).json.signingSecret
    } finally {
      await annex.close()
    }
  })
  after(() => rmSync(dataDir, { recursive: true, force: true }))

  it('are redacted in logs after a restart, the previous secret included', async () => {
    const annex = await start()
    try {
      const body = `old ${old} ${encodeURIComponent(old)} new ${current} ${current.slice(6)}`
      const response = await fetch(`${annex.url}/x/teller/${installationId}`, { method: 'POST', body })
      assert.equal(response.status, 200)
      const { json } = await until(
        () => annex.api('GET', `/v1/logs?request=${response.headers.get('x-request-id')}`),
        (answer) => answer.json.count > 0,
      )
      const text = json.items.map((line: Json) => line.text).join('\n')
      assert.equal(
        text,
        'old [secret signingSecrets.previousOfInstallation] [secret signingSecrets.previousOfInstallation] ' +
          'new [secret signingSecrets.installation] [secret signingSecrets.installation]',
      )
    } finally {
      await annex.close()
    }
  })

  it('are encrypted in the database', async () => {
    const { db, close } = await openDatabase('', dataDir)
    try {
      const [stored] = await db('levels').where({ installationId, kind: 'account' })
      const box = await openSecretBox(db, '', dataDir)
      assert.equal(box.open(stored.signingSecret), current)
      assert.equal(box.open(stored.previousSigningSecret), old)
      for (const secret of [old, current]) assert.ok(!JSON.stringify(stored).includes(secret.slice(6)))
    } finally {
      await close()
    }
  })
})
