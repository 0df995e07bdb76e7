import type { InstallLink as LinkView } from '../../schemas/generated/api/install-links.ts'
import { createInstallKey } from '../access/install-keys.ts'
import { hashOf } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import {
  deleteInstallLink,
  type InstallLink,
  insertInstallLink,
  listInstallLinks,
} from '../db/queries/install-links.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { recordAudit } from '../logs/audit.ts'
import { originOf } from './caller.ts'
import { idCursor, listPage, toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'
import { openOwnIntegration } from './visible-records.ts'

type InstallLinkParts = { db: Db; publicUrl: () => string }

/** Install links of integrations: listed, made and revoked by people of the owner. */
export function addInstallLinkRoutes(on: OnOperation, { db, publicUrl }: InstallLinkParts): void {
  on('GET /v1/integrations/{integration}/install-links', async (request) => {
    const { name } = await open(request)
    return listPage(request, {
      cursor: idCursor('lnk'),
      read: ({ after, limit }) =>
        listInstallLinks(db, { integration: name, limit, ...(after !== undefined && { before: after }) }),
      cursorOf: ({ id }) => id,
      toView,
    })
  })

  on('POST /v1/integrations/{integration}/install-links', async (request) => {
    const { name, organizationId } = await open(request)
    const { label = '' } = request.body
    const installKey = createInstallKey()
    const link = await transact(db, async (transaction) => {
      const made = await insertInstallLink(transaction, {
        integration: name,
        hash: hashOf(installKey),
        label,
      })
      await recordAudit(transaction, originOf(request), {
        ...{ action: 'install_link.create', organizationId, subject: { kind: 'install_link', id: made.id } },
        after: { integration: name, label },
      })
      return made
    })
    const path = `/integrations/${name}?installKey=${installKey}`
    return { ...toView(link), installKey, url: `${publicUrl()}/v1${path}`, app: publicUrl() + path }
  })

  on('DELETE /v1/integrations/{integration}/install-links/{link}', async (request) => {
    const { name, organizationId } = await open(request)
    const { link: id } = request.params
    await transact(db, async (transaction) => {
      const deleted = await deleteInstallLink(transaction, name, id)
      if (deleted === undefined) throw new AnnexError('not_found', `${name} has no install link ${id}.`)
      await recordAudit(transaction, originOf(request), {
        ...{ action: 'install_link.revoke', organizationId, subject: { kind: 'install_link', id } },
        before: { integration: name, label: deleted.label },
      })
    })
  })

  const open = ({
    caller,
    params,
  }: {
    caller: Parameters<typeof openOwnIntegration>[1]
    params: { integration: string }
  }) => openOwnIntegration(db, caller, params.integration, 'have its install links')
}

const toView = ({ id, integration, label, createdAt }: InstallLink): LinkView => ({
  object: 'install-link',
  id,
  integration,
  label,
  createdAt: toIso(createdAt),
})
