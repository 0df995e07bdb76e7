import { api } from '../../api.ts'
import { CopyButton } from '../../parts/copy.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { placeTexts } from '../../texts/places.ts'
import { useLoad } from '../../use-load.ts'

const texts = placeTexts.site
const count = (value: number) => value.toLocaleString('en')

/** The visits of a week by day. Without any: what pages of the site need to send them. */
export function Visits({ org, site }: { org: string; site: string }) {
  const counts = useLoad(`visits ${org} ${site}`, (signal) =>
    api.call('GET /v1/orgs/{org}/sites/{site}/views/counts', { params: { org, site }, signal }),
  )
  return (
    <section>
      <h2>{texts.visits}</h2>
      <Loaded
        of={counts}
        isEmpty={({ items }) => items.every(({ views }) => views === 0)}
        empty={<Tag org={org} site={site} />}
      >
        {({ items }) => (
          <>
            <Table
              label={texts.visits}
              rows={items}
              keyOf={({ day = '' }) => day}
              columns={[
                { title: texts.visitColumns.day, kind: 'nowrap', cell: ({ day }) => day },
                { title: texts.visitColumns.views, cell: ({ views }) => count(views) },
                { title: texts.visitColumns.visitors, cell: ({ visitors }) => count(visitors) },
              ]}
            />
            <p class="until">{texts.sum(items.reduce((sum, { views }) => sum + views, 0))}</p>
          </>
        )}
      </Loaded>
    </section>
  )
}

function Tag({ org, site }: { org: string; site: string }) {
  const script = useLoad(`script ${org} ${site}`, (signal) =>
    api.call('GET /v1/orgs/{org}/sites/{site}/script', { params: { org, site }, signal }),
  )
  return (
    <Loaded of={script}>
      {({ html, origins }) => (
        <>
          <p>{texts.noVisits}</p>
          <div class="with-copy wide">
            <pre>{html}</pre>
            <CopyButton text={html} label={texts.copyTag} />
          </div>
          {origins.length === 0 && <p class="muted">{texts.noOrigins}</p>}
        </>
      )}
    </Loaded>
  )
}
