import { Readable } from 'node:stream'
import type Router from '@koa/router'
import type { Context } from 'koa'
import { findInstallation } from '../db/queries/installed/installations.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { assertOperator } from '../http/caller.ts'
import { findDeployed } from '../installations/find-deployed.ts'
import { toInstallationView } from '../installations/installation-view.ts'
import { holdForExport } from '../move/hold-for-export.ts'
import { importInstallation } from '../move/import-installation.ts'
import { assertPassphrase } from '../move/passphrase.ts'
import { openExport } from '../move/read-export.ts'
import { spool } from '../move/spool.ts'
import { writeExport } from '../move/write-export.ts'
import { settleCounts } from '../webhooks/operating/delivery-counts.ts'
import type { RouteParts } from './parts.ts'

/** Moving an installation from one Annex to another, with its history and all that it owes. */
export function addMoveRoutes(router: Router, parts: RouteParts): void {
  const { db, longReader, commits, authenticate, box, counts, dataDir } = parts
  const { prepareDispatch, publicUrl, signingSecrets, version } = parts

  /**
   * Holds an installation (`moving`: nothing of it runs, nothing is sent) and answers with all that there is of it, as lines
   * of JSON that a passphrase protects: base64 of 12 to 1,000 characters in the header `Annex-Passphrase`. It waits up to
   * two minutes for what runs. The last line is `end`; any other means that it is not whole. 404; 503 when something
   * still runs.
   */
  router.post('/v1/installations/:id/export', async (context) => {
    assertOperator(await authenticate(context))
    const passphrase = passphraseOf(context)
    const installation = await holdForExport(db, String(context.params.id), prepareDispatch.forget)
    await settleCounts(db, commits, counts)
    const lines = await writeExport({ db: longReader, box, installation, passphrase, version })
    context.type = 'application/x-ndjson'
    context.body = Readable.from(lines, { highWaterMark: 1 })
  })

  /**
   * Takes an export, any number of bytes, with its passphrase in the header `Annex-Passphrase`: 201 with the installation
   * and `warnings`. All of it is stored, or nothing. It is `moving` until somebody resumes it. `?replace=true` puts it in
   * the place of the same one when that is `moving` here. 409 when it is here already, or what it needs is not; 422
   * `export_invalid` for a file that is damaged, or has another passphrase.
   */
  router.post('/v1/import', async (context) => {
    const caller = await authenticate(context)
    assertOperator(caller)
    const passphrase = passphraseOf(context)
    const replace = context.query.replace === 'true'
    const file = await spool(context.req, dataDir)
    try {
      const opened = await openExport(file, passphrase)
      const { installationId, warnings } = await importInstallation(db, box, opened, { replace })
      prepareDispatch.forget()
      signingSecrets.forget()
      const installation = await findInstallation(db, installationId)
      if (installation === undefined) throw new AnnexError('not_found', `${installationId} is gone again.`)
      const manifest = (await findDeployed(db, installation.integration))?.manifest
      const view = toInstallationView(installation, { caller, manifest, publicUrl: publicUrl() })
      context.status = 201
      context.body = { ...view, warnings }
    } finally {
      await file.close()
    }
  })
}

/** In base64: a header has no other way to carry any text. It is not in the address, which others keep in logs. */
function passphraseOf(context: Context): string {
  const encoded = context.get('annex-passphrase')
  const passphrase = Buffer.from(encoded, 'base64').toString('utf8')
  if (passphrase === '') {
    throw new AnnexError('bad_request', 'Send the passphrase, in base64, in the header Annex-Passphrase.')
  }
  assertPassphrase(passphrase)
  return passphrase
}
