import type { Integration } from '../../../../../schemas/generated/api/integrations.ts'
import { OutsideLink } from '../../parts/outside-link.tsx'
import { texts } from '../../texts.ts'

const words = texts.integration
const categoryNames: Readonly<Record<string, string>> = texts.catalogue.categories

/** Which version this is, where it can be installed, and where else to read of it. */
export function Facts({
  integration: { categories, version, visibility, page },
}: {
  integration: Integration
}) {
  return (
    <aside class="card">
      <dl class="facts">
        <dt>{words.version}</dt>
        <dd>{version?.number ?? words.noVersionYet}</dd>
        {page && (
          <>
            <dt>{words.where}</dt>
            <dd>{words.targets[page.target]}</dd>
          </>
        )}
        {categories.length > 0 && (
          <>
            <dt>{words.categories}</dt>
            <dd>{categories.map((one) => categoryNames[one] ?? one).join(', ')}</dd>
          </>
        )}
        <dt>{words.visibility}</dt>
        <dd>{words.visibilities[visibility]}</dd>
      </dl>
      {page && page.blocks.length > 0 && (
        <section>
          <h2>{words.blocks}</h2>
          <ul class="stack small">
            {page.blocks.map(({ id, title, description }) => (
              <li key={id} dir="auto">
                {title}
                {description && <span class="muted">: {description}</span>}
              </li>
            ))}
          </ul>
        </section>
      )}
      {page && page.externalLinks.length > 0 && (
        <section>
          <h2>{words.links}</h2>
          <ul class="stack">
            {page.externalLinks.map(({ label, url }) => (
              <li key={label + url}>
                <OutsideLink href={url}>{label}</OutsideLink>
              </li>
            ))}
          </ul>
        </section>
      )}
    </aside>
  )
}
