import { Head } from '../../parts/head.tsx'
import { OperatorsOnly } from '../../parts/permitted.tsx'
import { me } from '../../state.ts'
import { auditTexts as texts } from '../../texts/audit.ts'
import { Export } from './audit.tsx'
import { AuditList } from './audit-list.tsx'

/** Changes of all organizations, and of Annex as a whole. */
export default function AnnexAuditPage() {
  return (
    <>
      <Head title={texts.ofAnnex} actions={me.value?.account?.operator && <Export />}>
        {texts.ofAnnexWhat}
      </Head>
      <OperatorsOnly>
        <AuditList here="/audit" />
      </OperatorsOnly>
    </>
  )
}
