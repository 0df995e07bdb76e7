import { useLocation } from 'preact-iso'
import { Head } from '../parts/head.tsx'
import { organizationInAddress } from '../state.ts'
import { texts } from '../texts.ts'

/** Components of scripts have buttons to spaces, which have no page yet. */
const planned = /^\/orgs\/[^/]+\/spaces(?:\/|$)/

export default function UnknownPage() {
  const { path } = useLocation()
  const organization = organizationInAddress()
  const isPlanned = planned.test(path)
  return (
    <>
      <Head title={isPlanned ? texts.unknown.planned : texts.unknown.title}>
        {isPlanned ? texts.unknown.plannedWhat : texts.unknown.what}
      </Head>
      <pre>{isPlanned ? texts.unknown.commands : path}</pre>
      <p>
        <a href={organization === undefined ? '/' : `/orgs/${organization}`}>{texts.unknown.home}</a>
      </p>
    </>
  )
}
