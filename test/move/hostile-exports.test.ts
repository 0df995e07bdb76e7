import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, request, startAnnex, until } from '../support/annex.ts'
import { exportText, forge, importText, passphrase, post } from '../support/moving.ts'
import { startReceiver } from '../support/receiver.ts'
import { inTorture } from '../support/torture.ts'

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { integration }) => {
    const url = await request.text()
    await integration.queueDelivery({ url, event: { type: 'ping' } })
    await integration.queueTask({ task: { url }, schedule: 3600 })
    return new Response('owed')
  },
})`

const plugins = { mover: { script }, other: { script } }
const idOf = (prefix: string) => `${prefix}_${randomUUID()}`

describe('what is imported may be anybody’s file', () => {
  let source: Annex
  let target: Annex
  let file: string
  let id: string
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  before(async () => {
    receiver = await startReceiver(503)
    const flags = { DELIVERY_RETRY_SECONDS: '3600' }
    source = await startAnnex({ plugins, flags })
    target = await startAnnex({ plugins, flags })
    const installed = await installSample(source, 'mover', 'site')
    id = installed.id
    const endpoint = installed.endpoint
    assert.equal(await (await fetch(endpoint, { method: 'POST', body: receiver.url })).text(), 'owed')
    await receiver.waitFor(1)
    file = await exportText(source, id)
  })
  after(async () => {
    await source?.close()
    await target?.close()
    await receiver?.close()
  })

  const assertNothing = async () => {
    const { json } = await target.api('GET', '/v1/installations')
    assert.deepEqual(
      json.items.filter((one: Json) => one.id === id),
      [],
      'nothing of it is there',
    )
    const deliveries = await target.api('GET', `/v1/deliveries?installation=${id}`)
    assert.equal(deliveries.json.count ?? 0, 0)
  }
  const refuses = async (text: string, message: RegExp, code = 'export_invalid') => {
    const answer = await importText(target, text)
    assert.equal(answer.code, code, answer.message)
    assert.match(answer.message, message)
    await assertNothing()
  }
  /** One line of a kind, changed by somebody who knows the passphrase. */
  const forged = (record: string, change: object | ((one: Json, box: Json) => object)) =>
    forge(file, (records, box) => {
      const place = records.findIndex((one) => one.record === record)
      assert.notEqual(place, -1, record)
      const one = records[place]
      const changed = typeof change === 'function' ? change(one, box) : change
      return records.with(place, { ...one, ...changed })
    })

  it('cut off: between lines, in a line, in the last one, or all of it', async () => {
    const lines = file.trimEnd().split('\n')
    await refuses('', /empty/)
    await refuses(`${lines.slice(0, -1).join('\n')}\n`, /cut off after line/)
    await refuses(`${lines.slice(0, 3).join('\n')}\n`, /cut off after line 3/)
    await refuses(file.slice(0, -5), /cut off in the middle/)
    await refuses(file.slice(0, file.length / 2), /cut off in the middle/)
  })

  it('changed by one who does not know the passphrase', async () => {
    await refuses(file.replace('"hops":0', '"hops":1'), /a line was changed/)
    await refuses(file.replaceAll(receiver.url, `${receiver.url}s`), /a line was changed/)
    const without = file.split('\n').filter((line) => !line.startsWith('{"record":"delivery"'))
    await refuses(without.join('\n'), /has 0 lines of "delivery", and says 1/)
    await refuses(`${file}${file}`, /comes after the last one/)
  })

  it('no export, of another format, or under another passphrase', async () => {
    await refuses('hello\n', /no export/)
    await refuses(`${'['.repeat(100_000)}\n`, /no export/)
    await refuses('a'.repeat(17 * 1024 * 1024), /line of more than/)
    await refuses(await forged('header', { format: 2 }), /too old for/)
    await refuses(await forged('header', { schema: '999-later' }), /too old for/)
    const answer = await post(target, '/v1/import', file, `${passphrase}!`)
    assert.match(await answer.text(), /the passphrase is another one/)
    assert.equal((await post(target, '/v1/import', file, 'short')).status, 400)
    await assertNothing()
  })

  it('with fields that no export has', inTorture, async () => {
    await refuses(await forged('endpoint', { url: 'file:///etc/passwd' }), /\(endpoint\): url/)
    await refuses(await forged('endpoint', { id: '../x' }), /\(endpoint\): id/)
    await refuses(await forged('endpoint', { installationId: 'inst_x' }), /installationId/)
    await refuses(await forged('delivery', { body: 'x'.repeat(524_289) }), /\(delivery\): body/)
    await refuses(await forged('installation', { resumesTo: 'suspended' }), /\(installation\): resumesTo/)
    await refuses(await forge(file, (records) => records.toReversed()), /no export/)
    const twice = (records: Json[]) => {
      const place = records.findIndex(({ record }) => record === 'installation')
      return records.toSpliced(place, 0, { ...records[place], id: idOf('inst') })
    }
    await refuses(await forge(file, twice), /not where it belongs/)
    await refuses(await forge(file, (records) => records.slice(0, 4)), /no installation/)
  })

  it('without a line that others need', inTorture, async () => {
    const without = (name: string, has: object = {}) =>
      forge(file, (records) =>
        records.filter(
          (one) => !Object.entries({ record: name, ...has }).every(([key, is]) => one[key] === is),
        ),
      )
    await refuses(await without('organization'), /^Line 2 \(place\) .* no organization before it/)
    await refuses(await without('integration'), /^Line 4 \(installation\) .* no integration before it/)
    await refuses(await without('installation'), /^Line 5 \(target\) .* no installation before it/)
    await refuses(await without('place'), /^Line 5 is about a site site_.* does not have/)
    await refuses(await without('endpoint'), /^Line \d+ is about an endpoint ep_.* does not have/)
    await refuses(await without('delivery'), /^Line \d+ \(job\) .* not owed/)
    await refuses(await without('job', { kind: 'delivery' }), /^Line 8 \(delivery\) is owed, .* no job/)
    const failed = (one: Json) => (one.kind === 'delivery' ? { ...one, state: 'failed' } : one)
    await refuses(await forge(file, (records) => records.map(failed)), /^Line \d+ \(job\) has failed/)
    const elsewhere = (one: Json) => (one.record === 'target' ? { ...one, targetId: idOf('site') } : one)
    await refuses(await forge(file, (records) => records.map(elsewhere)), /a site site_.* does not have/)
  })

  it('that speaks for another installation', inTorture, async () => {
    const neighbour = await installSample(target, 'other', 'site')
    assert.equal(
      await (await fetch(neighbour.endpoint, { method: 'POST', body: receiver.url })).text(),
      'owed',
    )
    const [theirs] = (await target.api('GET', `/v1/deliveries?installation=${neighbour.id}`)).json.items
    await refuses(await forged('delivery', { endpointId: idOf('ep') }), /endpoint ep_.* does not have/)
    await refuses(await forged('delivery', { id: theirs.id }), /in another installation/, 'conflict')
    const toTheirs = (one: Json) => ({
      subject: { ...one.subject, level: { ...one.subject.level, installationId: neighbour.id } },
    })
    const deliveryJob = (records: Json[]) =>
      records.findIndex((one) => one.record === 'job' && one.kind === 'delivery')
    const change = (more: object) =>
      forge(file, (records) =>
        records.with(deliveryJob(records), { ...records[deliveryJob(records)], ...more }),
      )
    await refuses(await change({ subject: { id: theirs.id } }), /subject is not/)
    const theirJob = { id: theirs.id.replace('dlv', 'job'), subject: { id: theirs.id } }
    await refuses(await change(theirJob), /in another installation/, 'conflict')
    await refuses(await change({ id: idOf('job') }), /subject is not/)
    const free = idOf('dlv')
    await refuses(await change({ id: free.replace('dlv', 'job'), subject: { id: free } }), /not owed/)
    await refuses(await change({ lane: idOf('ep') }), /does not have/)
    const taskJob = (records: Json[]) =>
      records.findIndex((one) => one.record === 'job' && one.kind === 'task')
    await refuses(
      await forge(file, (records) =>
        records.with(taskJob(records), {
          ...records[taskJob(records)],
          ...toTheirs(records[taskJob(records)]),
        }),
      ),
      /installation that the file does not have/,
    )
    await refuses(
      await forge(file, (records) => [...records, { ...records[deliveryJob(records)], id: idOf('job') }]),
      /subject is not/,
    )
  })

  it('with a secret that anybody could find by trying', inTorture, async () => {
    for (const signingSecret of ['secret', 'whsec_c2hvcnQ=']) {
      const weak = await forged('installation', ({ sealed }: Json, box: Json) => ({
        sealed: box.seal(JSON.stringify({ ...JSON.parse(box.open(sealed)), signingSecret })),
      }))
      await refuses(weak, /too weak/)
    }
    await refuses(await forged('installation', { sealed: 'AAAA' }), /cannot be opened/)
  })

  it('of an integration that is not deployed here, or is installed here already', inTorture, async () => {
    await refuses(await forged('integration', { name: 'elsewhere' }), /not deployed here/, 'conflict')
    const [other] = (await target.api('GET', '/v1/integrations/other/installations')).json.items
    const asOther = await forge(file, (records) =>
      records.map((one) => (one.record === 'integration' ? { ...one, name: 'other' } : one)),
    )
    await refuses(asOther, new RegExp(`installed in .* already, as ${other.id}`), 'conflict')
  })

  it('is for operators alone, and so is the export', inTorture, async () => {
    const { organization } = target.server.samples
    const { json } = await target.api('POST', `/v1/orgs/${organization}/tokens`, {})
    for (const path of ['/v1/import', `/v1/installations/${id}/export`]) {
      assert.equal((await request(target.url, 'POST', path, {}, json.token)).status, 403)
      assert.equal((await request(target.url, 'POST', path, {})).status, 401)
      assert.match((await target.api('POST', path, {})).text, /Annex-Passphrase/)
    }
  })

  it('comes once, and says of its version and places what is different', inTorture, async () => {
    const answer = await importText(target, await forged('integration', { digest: 'another' }))
    assert.equal(answer.status, 'moving', answer.message)
    assert.match(answer.warnings.join('\n'), /site sample \(site_.*\) was not here.*It is called sample-2/)
    assert.match(answer.warnings.join('\n'), /mover is another version here/)
    const again = await importText(target, file)
    assert.equal(again.code, 'conflict')
    assert.match(again.message, /is here already.*--replace/)
    const path = `/v1/integrations/mover/installations/${id}`
    await target.api('POST', `${path}/resume`)
    assert.match((await importText(target, file, '?replace=true')).message, /is here already. It is active/)
  })

  it('owes nothing more where it was exported, until it is resumed there', inTorture, async () => {
    const path = `/v1/integrations/mover/installations/${id}`
    const { json } = await source.api('GET', path)
    const answer = await fetch(json.urls.publicEndpoint, { method: 'POST', body: receiver.url })
    assert.equal(answer.status, 503)
    const event = { installationId: id, signedBy: 'installation', url: receiver.url, eventId: 'evt_late' }
    await assert.rejects(source.server.oweDelivery({ ...event, eventType: 'late', body: '{}', hops: 0 }), {
      code: 'installation_paused',
    })
    await source.api('POST', `${path}/resume`)
    await until(
      () => source.server.oweDelivery({ ...event, eventType: 'late', body: '{}', hops: 0 }),
      ({ created }) => created,
    )
  })
})
