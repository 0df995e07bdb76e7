import type { Knex } from 'knex'
import * as records from './001-records.ts'
import * as work from './002-work.ts'
import * as sandbox from './003-sandbox.ts'
import * as delivery from './004-delivery.ts'
import * as hosts from './005-hosts.ts'
import * as secretRotation from './006-secret-rotation.ts'
import * as history from './007-history.ts'
import * as interruptions from './008-interruptions.ts'
import * as bodies from './009-bodies.ts'
import * as resends from './010-resends.ts'
import * as refusals from './011-refusals.ts'
import * as later from './012-later.ts'
import * as failed from './013-failed.ts'
import * as looseHistory from './014-loose-history.ts'
import * as order from './015-order.ts'
import * as waiting from './016-waiting.ts'
import * as waitingEvents from './017-waiting-events.ts'
import * as setUp from './018-set-up.ts'
import * as uniqueNames from './019-unique-names.ts'
import * as receiptsOfEvents from './020-receipts-of-events.ts'
import * as queue from './021-queue.ts'
import * as noResends from './022-no-resends.ts'

type Step = { up: (db: Knex) => Promise<void>; down: (db: Knex) => Promise<void> }

/** Numbered, and only appended to: a step that has landed is never changed. */
const steps: readonly [string, Step][] = [
  ['001-records', records],
  ['002-work', work],
  ['003-sandbox', sandbox],
  ['004-delivery', delivery],
  ['005-hosts', hosts],
  ['006-secret-rotation', secretRotation],
  ['007-history', history],
  ['008-interruptions', interruptions],
  ['009-bodies', bodies],
  ['010-resends', resends],
  ['011-refusals', refusals],
  ['012-later', later],
  ['013-failed', failed],
  ['014-loose-history', looseHistory],
  ['015-order', order],
  ['016-waiting', waiting],
  ['017-waiting-events', waitingEvents],
  ['018-set-up', setUp],
  ['019-unique-names', uniqueNames],
  ['020-receipts-of-events', receiptsOfEvents],
  ['021-queue', queue],
  ['022-no-resends', noResends],
]

export const stepNames: readonly string[] = steps.map(([name]) => name)

export const migrations: Knex.MigrationSource<(typeof steps)[number]> = {
  getMigrations: async () => [...steps],
  getMigrationName: ([name]) => name,
  getMigration: async ([, step]) => step,
}
