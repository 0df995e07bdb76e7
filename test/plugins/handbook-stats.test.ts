import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, installSample, type Json, startAnnex } from '../support/annex.ts'
import { startReceiver } from '../support/receiver.ts'

const pluginsDir = fileURLToPath(new URL('../../plugins', import.meta.url))

describe('handbook-stats', () => {
  let annex: Annex
  let folder: string
  let space: string
  let id: string
  let endpoint: string
  const account = () => `/v1/integrations/handbook-stats/installations/${id}`
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'annex-space-'))
    writeFileSync(join(folder, 'one.md'), '# A title\n\nThree more words.\n')
    annex = await startAnnex({ pluginsDir })
    space = (await annex.api('POST', '/v1/orgs/home/spaces', { slug: 'counted', title: 'Counted', folder }))
      .json.id
    const { organization } = annex.server.samples
    id = (
      await annex.api('POST', '/v1/integrations/handbook-stats/installations', {
        organization,
        ...(await agreementTo(annex, 'handbook-stats')),
      })
    ).json.id
    const configured = await annex.api('PATCH', account(), {
      configuration: { unit: 'words', team: 'Support' },
    })
    assert.equal(configured.json.status, 'active', configured.text)
    const installedOn = await annex.api('POST', `${account()}/spaces`, { space })
    endpoint = installedOn.json.urls.publicEndpoint
    await annex.api('PATCH', `${account()}/spaces/${space}`, { configuration: { include_headings: false } })
  })
  after(async () => {
    await annex.close()
    rmSync(folder, { recursive: true })
  })

  it('counts the words of its space', async () => {
    assert.deepEqual(await (await fetch(endpoint)).json(), {
      team: 'Support',
      pages: 1,
      words: 3,
      minutes: 1,
    })
    await annex.api('PATCH', `${account()}/spaces/${space}`, { configuration: { include_headings: true } })
    assert.equal(((await (await fetch(endpoint)).json()) as Json).words, 5)
    await annex.api('PATCH', account(), { configuration: { unit: 'characters' } })
    assert.equal(
      ((await (await fetch(endpoint)).json()) as Json).characters,
      'A title Three more words.'.length,
    )
  })

  it('offers the choices of its drop-down', async () => {
    const choices: Json = await (await fetch(`${annex.url}/x/handbook-stats/${id}/teams`)).json()
    assert.deepEqual(choices[0], { id: 'Documentation', label: 'Documentation' })
  })

  it('names the next step when its endpoint is called without a space', async () => {
    const response = await fetch(`${annex.url}/x/handbook-stats/${id}`)
    assert.equal(response.status, 404)
    assert.match(((await response.json()) as Json).error.message, /Install this in a space/)
  })

  it('reports new numbers after a change, with its token', async () => {
    const receiver = await startReceiver(200)
    try {
      await annex.api('PATCH', account(), { configuration: { unit: 'words', report_url: receiver.url } })
      writeFileSync(join(folder, 'two.md'), 'Two words\n')
      const [report] = await receiver.waitFor(1)
      assert.equal(report?.headers.authorization, 'Bearer report-token')
      const body: Json = JSON.parse(report?.body ?? '')
      assert.deepEqual([body.pages, body.words], [2, 7])
      assert.match(body.revision, /^rev_/)
    } finally {
      await receiver.close()
    }
  })
})

describe('the webhook integration in a space', () => {
  it('sends a signed event when content changes, and requires its event type', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'annex-space-'))
    writeFileSync(join(folder, 'one.md'), '# One\n')
    const receiver = await startReceiver(200)
    const annex = await startAnnex({ pluginsDir })
    try {
      const space = (await annex.api('POST', '/v1/orgs/home/spaces', { slug: 'own', title: 'Own', folder }))
        .json.id
      const { id } = await installSample(annex, 'webhook')
      const path = `/v1/integrations/webhook/installations/${id}/spaces`
      await annex.api('POST', path, { space })
      const settings = { webhook_url: receiver.url, space_content_updated: true }
      assert.equal(
        (await annex.api('PATCH', `${path}/${space}`, { configuration: settings })).json.status,
        'active',
      )
      writeFileSync(join(folder, 'one.md'), '# One, changed\n')
      const [received] = await receiver.waitFor(1)
      const event: Json = JSON.parse(received?.body ?? '')
      assert.deepEqual(
        [event.type, event.spaceId, event.installationId],
        ['space_content_updated', space, id],
      )
      assert.deepEqual(Object.keys(event).sort(), [
        'eventId',
        'installationId',
        'revisionId',
        'spaceId',
        'type',
        'updatedBy',
      ])

      const off = await annex.api('PATCH', `${path}/${space}`, {
        configuration: { ...settings, space_content_updated: false },
      })
      assert.equal(off.status, 422)
      assert.deepEqual(off.json.error.details, [
        { path: '/configuration/space_content_updated', message: 'must be on' },
      ])
    } finally {
      await annex.close()
      await receiver.close()
      rmSync(folder, { recursive: true })
    }
  })
})
