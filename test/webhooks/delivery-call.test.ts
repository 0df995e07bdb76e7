import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createGroupCommit } from '../../host/db/commits/group-commit.ts'
import { findDeliveries } from '../../host/db/queries/deliveries.ts'
import type { DispatchContext } from '../../host/sandbox/target.ts'
import { createDeliveryCall } from '../../host/webhooks/delivery-call.ts'
import { openSeeded } from '../support/seeded-database.ts'

const event = { id: 'evt_1', type: 'told' }

it('a script goes on when its delivery is committed while its event is owed, else when the disk has it', async () => {
  await using ends = new AsyncDisposableStack()
  const { database, db, installationId, close } = await openSeeded()
  ends.defer(close)
  const disk = Promise.withResolvers<void>()
  const woken: string[] = []
  const call = createDeliveryCall(
    createGroupCommit({ ...database, synced: () => disk.promise }),
    (_kind, lane) => void woken.push(lane ?? ''),
  )
  const told: string[] = []
  const queue = async (name: string, about: Partial<DispatchContext>, isOwed: boolean) => {
    const context: DispatchContext = {
      ...{ requestId: 'req_1', integration: 'queue', scopes: [], installationId, hops: 0, ...about },
      level: { kind: 'installation', installationId, integration: 'queue' } as never,
    }
    const given = { context, body: new Uint8Array(), signal: AbortSignal.timeout(60_000), isOwed }
    const { value } = await call.run({ url: `http://${name}.example/`, event: { type: 'told' } }, given)
    told.push(name)
    return (value as { id: string }).id
  }
  const later = [queue('visit', {}, false), queue('answered', { event }, false)]
  const id = await queue('owed', { event }, true)
  assert.deepEqual(told, ['owed'], 'the disk has none of them')
  assert.equal((await findDeliveries(db, [id])).length, 1)
  assert.equal(woken.length, 3, 'all of them are sent')
  disk.resolve()
  await Promise.all(later)
})
