import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/db.ts'
import { isTextRefused } from '../db/explain-storage-error.ts'
import { findInstallation, listInstallations } from '../db/queries/installed/installations.ts'
import { findJobless, findStrayJob, isDuplicate } from '../db/queries/moved/import-rows.ts'
import { deleteInstallation, deleteSomeDeliveries, deleteSomeWaiting } from '../db/queries/moved/take-out.ts'
import { AnnexError, isAnnexError } from '../errors/annex-error.ts'
import { findDeployed } from '../installations/find-deployed.ts'
import { importOrganization, importPlace } from './import-places.ts'
import type { ExportFile } from './read-export.ts'
import type { IntegrationRecord } from './records.ts'
import { createRowWriter } from './row-writer.ts'
import { type Importing, toInstallationRow, toTargetRow } from './to-level-rows.ts'
import { strangerError, toDeliveryRows, toEndpointRows, toEventRow, toJobRow } from './to-rows.ts'

const deletedAtOnce = 1_000

/** What an import says of itself. */
export type Imported = { installationId: string; warnings: string[] }

/**
 * Stores an installation as its export has it, all of it in one transaction or nothing. It is `moving` then: a resume
 * starts it, and what it owes is done.
 *
 * @param replace takes out the installation of that id first, which is held since it was exported
 * @throws AnnexError `export_invalid`; `conflict` when it is here already, or what it needs is not
 */
export async function importInstallation(
  db: Db,
  box: SecretBox,
  file: ExportFile,
  { replace }: { replace: boolean },
): Promise<Imported> {
  // Before anything is stored: the last line says whether the others are as they were exported.
  for await (const _ of file.read());
  try {
    return await db.transaction((transaction) => store(transaction, box, file, replace))
  } catch (error) {
    throw explain(error)
  }
}

async function store(transaction: Db, box: SecretBox, file: ExportFile, replace: boolean): Promise<Imported> {
  const warnings: string[] = []
  const warn = (text: string) => void warnings.push(text)
  const places = new Set<string>()
  const writer = createRowWriter(transaction)
  const importing: Importing = {
    ...{ box, opening: file.box, integration: '', organizationId: '', installationId: '' },
    endpoints: new Map(),
  }
  for await (const { record, line } of file.read()) {
    switch (record.record) {
      case 'organization':
        importing.organizationId = await importOrganization(transaction, record, warn)
        break
      case 'place':
        await importPlace(transaction, importing.organizationId, record, warn)
        places.add(`${record.kind} ${record.id}`)
        break
      case 'integration':
        await assertDeployed(transaction, record, warn)
        importing.integration = record.name
        break
      case 'installation':
        importing.installationId = record.id
        await makeRoom(transaction, importing, replace)
        await writer.put('installations', toInstallationRow(importing, record, line))
        break
      case 'target': {
        // One of the same id may be here that is another organization's.
        const place = `${record.kind} ${record.targetId}`
        if (!places.has(place)) throw strangerError(line, `a ${place}`)
        await writer.put('installationTargets', toTargetRow(importing, record, line))
        break
      }
      case 'endpoint': {
        const { endpoint, days } = toEndpointRows(importing, record, line)
        await writer.put('endpoints', endpoint)
        for (const day of days) await writer.put('deliveryCounts', day)
        break
      }
      case 'event':
        await writer.put('events', toEventRow(importing, record))
        break
      case 'delivery': {
        const { body, delivery, attempts } = toDeliveryRows(importing, record, line)
        await writer.put('bodies', body)
        await writer.put('deliveries', delivery)
        for (const attempt of attempts) await writer.put('attempts', attempt)
        break
      }
      case 'job':
        await writer.put('jobs', toJobRow(importing, record, line))
    }
  }
  await writer.flush()
  await assertJobsFit(transaction, importing.installationId, file)
  return { installationId: importing.installationId, warnings }
}

/** What is owed has a job, and a delivery's job is for what is owed. */
async function assertJobsFit(transaction: Db, installationId: string, file: ExportFile): Promise<void> {
  const stray = await findStrayJob(transaction, installationId)
  if (stray !== undefined) throw await misfitError(file, stray, 'is for a delivery that is not owed')
  const jobless = await findJobless(transaction, installationId)
  if (jobless !== undefined) throw await misfitError(file, jobless, 'is owed, and has no job that waits')
}

async function misfitError(file: ExportFile, id: string, what: string): Promise<AnnexError> {
  for await (const { record, line } of file.read()) {
    if (!('id' in record) || record.id !== id) continue
    return new AnnexError('export_invalid', `Line ${line} (${record.record}) ${what}.`)
  }
  return new AnnexError('export_invalid', `${id} ${what}.`)
}

async function assertDeployed(
  transaction: Db,
  { name, digest }: IntegrationRecord,
  warn: (text: string) => void,
): Promise<void> {
  const deployed = await findDeployed(transaction, name)
  if (deployed === undefined) {
    throw new AnnexError(
      'conflict',
      `${name} is not deployed here. Put its folder beside the other plugins, \`annex reload\`, and import again.`,
    )
  }
  if (deployed.version.digest !== digest) {
    warn(
      `${name} is another version here (${deployed.version.digest}) than where it was exported (${digest}).`,
    )
  }
}

async function makeRoom(
  transaction: Db,
  { installationId, integration, organizationId }: Importing,
  replace: boolean,
): Promise<void> {
  const same = await findInstallation(transaction, installationId)
  if (same !== undefined) {
    if (replace && same.status === 'moving') return takeOut(transaction, installationId)
    const held =
      same.status === 'moving'
        ? 'It was exported or imported, and not resumed since: `--replace` puts the one of the file in its place.'
        : `It is ${same.status}.`
    throw new AnnexError('conflict', `${installationId} is here already. ${held}`)
  }
  const [other] = await listInstallations(transaction, { integration, organizationId })
  if (other === undefined) return
  throw new AnnexError(
    'conflict',
    `${integration} is installed in ${organizationId} already, as ${other.id}. An organization has it once.`,
  )
}

/** Of a million rows some at a time: with SQLite, visitors are answered in between. */
async function takeOut(transaction: Db, installationId: string): Promise<void> {
  for (const deleteSome of [deleteSomeWaiting, deleteSomeDeliveries]) {
    while ((await deleteSome(transaction, installationId, deletedAtOnce)) === deletedAtOnce) await nextTurn()
  }
  await deleteInstallation(transaction, installationId)
}

function explain(error: unknown): unknown {
  if (isAnnexError(error)) return error
  if (isDuplicate(error)) {
    return new AnnexError('conflict', 'A record of the file is here already, in another installation.', {
      cause: error,
    })
  }
  if (isTextRefused(error)) {
    return new AnnexError('export_invalid', 'The file has a text that this database cannot hold.', {
      cause: error,
    })
  }
  return error
}
