import assert from 'node:assert/strict'
import { it } from 'node:test'
import { toDeliveryRows } from '../../host/move/to-rows.ts'

it('a delivery that has failed is stored with a reason: it is found by that', () => {
  const endpoint = { signedBy: 'installation', url: 'https://receiver.example/' }
  const importing = {
    ...{ box: { seal: () => '' }, opening: { open: () => '' }, organizationId: 'org_1' },
    ...{ integration: 'sender', installationId: 'inst_1', endpoints: new Map([['ep_1', endpoint]]) },
  }
  const record = {
    ...({
      record: 'delivery',
      id: 'dlv_1',
      endpointId: 'ep_1',
      eventId: 'evt_1',
      eventType: 'told',
    } as const),
    ...{ body: '{}', hops: 0, createdAt: 1, finishedAt: 2, attempts: 0, attemptList: [] },
  }
  const reasonOf = (state: 'failed' | 'delivered', reason: string | null) =>
    toDeliveryRows(importing, { ...record, state, reason }, 1).delivery.reason
  assert.equal(reasonOf('failed', 'rejected: 500'), 'rejected: 500')
  assert.equal(reasonOf('failed', null), 'No reason was exported.')
  assert.equal(reasonOf('delivered', null), null)
})
