import type { Knex } from 'knex'
import type { Db } from '../../db.ts'

/**
 * What an organization may see of rows with `integration` and `installationId`: those of its installations, and of its
 * own integrations those that are for no installation.
 */
export const ofOrganization =
  (db: Db, organizationId: string): Knex.QueryCallback =>
  (visible) => {
    visible.whereIn('installationId', db('installations').select('id').where({ organizationId }))
    // What an integration did for itself as a whole is its owner's to see.
    visible.orWhere((own) => {
      own.whereNull('installationId')
      own.whereIn('integration', db('integrations').select('name').where({ organizationId }))
    })
  }
