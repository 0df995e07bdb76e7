import { useLocation, useRoute } from 'preact-iso'
import { api } from '../../api.ts'
import { toSearch } from '../../lists/address.ts'
import { readAuditFilter, toAuditQuery } from '../../lists/audit-filter.ts'
import { Head } from '../../parts/head.tsx'
import { Permitted } from '../../parts/permitted.tsx'
import { reasonAgainst } from '../../person.ts'
import { auditTexts as texts } from '../../texts/audit.ts'
import { navigationTexts } from '../../texts/navigation.ts'
import { useLoad } from '../../use-load.ts'
import { AuditList } from './audit-list.tsx'

/** Changes of one organization. */
export default function AuditPage() {
  const { org = '' } = useRoute().params
  const isAllowed = reasonAgainst('listAudit') === undefined
  return (
    <>
      <Head
        title={navigationTexts.audit}
        crumbs={[{ label: org, href: `/orgs/${org}` }, { label: navigationTexts.audit }]}
        actions={isAllowed && <Export organization={org} />}
      >
        {texts.what}
      </Head>
      <Permitted operation="listAudit">
        <Entries org={org} />
      </Permitted>
    </>
  )
}

function Entries({ org }: { org: string }) {
  const { value } = useLoad(`members of the audit ${org}`, (signal) =>
    api.call('GET /v1/orgs/{org}/members', { params: { org }, query: { limit: 1_000 }, signal }),
  )
  const names = new Map(value?.items.map(({ id, email }) => [id, email]))
  return <AuditList org={org} here={`/orgs/${org}/audit`} names={names} />
}

/** All entries of the filter: the browser saves them as they come. */
export function Export({ organization }: { organization?: string }) {
  const filter = readAuditFilter(useLocation().query)
  return (
    <a
      class="button"
      href={`/v1/audit/export${toSearch({ organization, ...toAuditQuery(filter, Date.now()) })}`}
      download={`audit-${organization ?? 'annex'}.ndjson`}
    >
      {texts.export}
    </a>
  )
}
