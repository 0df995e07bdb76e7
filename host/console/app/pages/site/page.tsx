import { useLocation, useRoute } from 'preact-iso'
import { api } from '../../api.ts'
import { Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { placeTexts } from '../../texts/places.ts'
import { useLoad } from '../../use-load.ts'
import { PlaceActions } from '../places/place-actions.tsx'
import { Audience } from './audience.tsx'
import { Overview } from './overview.tsx'
import { Views } from './views.tsx'

const texts = placeTexts.site

/** Components of scripts lead to the audience of a site by this end of its address. */
const audiencePath = 'settings/audience'

/** One site: what is installed in it, its visits, and its audience schema. */
export default function SitePage() {
  const { org = '', site: id = '', rest = '' } = useRoute().params
  const { route } = useLocation()
  const read = useLoad(`site ${org} ${id}`, (signal) =>
    api.call('GET /v1/orgs/{org}/sites/{site}', { params: { org, site: id }, signal }),
  )
  const { value } = read
  const here = `/orgs/${org}/sites/${id}`
  const current = rest === audiencePath ? 'audience' : rest === 'views' ? 'views' : 'overview'
  return (
    <>
      <Head
        title={value?.title ?? id}
        crumbs={[
          { label: org, href: `/orgs/${org}` },
          { label: texts.crumb, href: `/orgs/${org}/places` },
          { label: value?.title ?? id },
        ]}
        actions={
          value && (
            <PlaceActions
              org={org}
              place={value}
              onChange={read.reload}
              onDeleted={() => route(`/orgs/${org}/places`)}
            />
          )
        }
      >
        {texts.what}
      </Head>
      <Tabs
        label={texts.label}
        current={current}
        tabs={[
          { id: 'overview', label: texts.tabs.overview, href: here },
          { id: 'views', label: texts.tabs.views, href: `${here}/views` },
          { id: 'audience', label: texts.tabs.audience, href: `${here}/${audiencePath}` },
        ]}
      />
      <Loaded of={read}>
        {(site) =>
          current === 'audience' ? (
            <Audience org={org} site={site} onChanged={read.reload} />
          ) : current === 'views' ? (
            <Views org={org} site={site.id} here={`${here}/views`} />
          ) : (
            <Overview org={org} site={site} />
          )
        }
      </Loaded>
    </>
  )
}
