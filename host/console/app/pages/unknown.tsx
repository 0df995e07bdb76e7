import { useLocation } from 'preact-iso'
import { Head } from '../parts/head.tsx'
import { organizationInAddress } from '../state.ts'
import { texts } from '../texts.ts'

export default function UnknownPage() {
  const { path } = useLocation()
  const organization = organizationInAddress()
  return (
    <>
      <Head title={texts.unknown.title}>{texts.unknown.what}</Head>
      <pre>{path}</pre>
      <p>
        <a href={organization === undefined ? '/' : `/orgs/${organization}`}>{texts.unknown.home}</a>
      </p>
    </>
  )
}
