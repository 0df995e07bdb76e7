import { useState } from 'preact/hooks'
import type { Integration } from '../../../../../schemas/generated/api/integrations.ts'
import type { Version, VersionDifference } from '../../../../../schemas/generated/api/versions.ts'
import { api } from '../../api.ts'
import { Chip } from '../../parts/chip.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { texts } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'

const words = texts.integration
const mostShown = 10

/** The versions that Annex keeps, each with what changed since the one before. */
export function Versions({
  integration: { name },
  installKey,
}: {
  integration: Integration
  installKey: string | undefined
}) {
  const read = useLoad(`versions ${name} ${installKey}`, (signal) =>
    api.call('GET /v1/integrations/{integration}/versions', {
      params: { integration: name },
      query: { installKey, limit: mostShown + 1 },
      signal,
    }),
  )
  return (
    <section>
      <h2>{words.versions}</h2>
      <Loaded of={read} isEmpty={({ items }) => items.length === 0} empty={<p>{words.noVersion}</p>}>
        {({ items }) => (
          <>
            <ol class="versions">
              {items.slice(0, mostShown).map((version, index) => (
                <Row
                  key={version.number}
                  name={name}
                  installKey={installKey}
                  version={version}
                  before={items[index + 1]}
                />
              ))}
            </ol>
            <p class="until">{words.keptVersions}</p>
          </>
        )}
      </Loaded>
    </section>
  )
}

function Row({
  name,
  installKey,
  version,
  before,
}: {
  name: string
  installKey: string | undefined
  version: Version
  before: Version | undefined
}) {
  const { number, state, createdAt } = version
  const [isOpen, setIsOpen] = useState(state === 'deployed')
  return (
    <li>
      <div class="row">
        <strong>{words.versionNumber(number)}</strong>
        {state === 'deployed' && <Chip state="deployed" />}
        <span class="muted">
          <Time at={createdAt} />
        </span>
      </div>
      {before === undefined ? (
        <p class="muted">{words.firstVersion}</p>
      ) : (
        <details open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
          <summary>
            {words.compare}
            <span class="visually-hidden"> {words.versionNumber(number)}</span>
          </summary>
          {isOpen && <Changes name={name} installKey={installKey} to={number} from={before.number} />}
        </details>
      )}
    </li>
  )
}

function Changes({
  name,
  installKey,
  to,
  from,
}: {
  name: string
  installKey: string | undefined
  to: number
  from: number
}) {
  const read = useLoad(`difference ${name} ${from} ${to}`, (signal) =>
    api.call('GET /v1/integrations/{integration}/versions/{version}/diff', {
      params: { integration: name, version: String(to) },
      query: { from, installKey },
      signal,
    }),
  )
  return (
    <Loaded of={read} isEmpty={isSame} empty={<p>{words.noChange}</p>}>
      {({ added, removed, settings }) => (
        <dl class="changes">
          <Change title={words.newPermissions} texts={added.map(({ sentence }) => sentence)} />
          <Change title={words.lostPermissions} texts={removed.map(({ sentence }) => sentence)} />
          <Change title={words.newSettings} texts={settings.added} />
          <Change title={words.lostSettings} texts={settings.removed} />
        </dl>
      )}
    </Loaded>
  )
}

const isSame = ({ added, removed, settings }: VersionDifference): boolean =>
  [added, removed, settings.added, settings.removed].every(({ length }) => length === 0)

const Change = ({ title, texts }: { title: string; texts: readonly string[] }) =>
  texts.length === 0 ? null : (
    <>
      <dt>{title}</dt>
      {texts.map((text) => (
        <dd key={text}>{text}</dd>
      ))}
    </>
  )
