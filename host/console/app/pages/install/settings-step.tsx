import { useRoute } from 'preact-iso'
import { api } from '../../api.ts'
import { readLevel } from '../../level.ts'
import { type LevelName, type Place, pathOf } from '../../level-address.ts'
import { Chip } from '../../parts/chip.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { componentOf } from '../../parts/settings/settings.ts'
import { SettingsComponent } from '../../parts/settings/settings-component.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { texts } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'
import { type Choices, placeLists } from './choices.ts'
import { chosenOf, type Found } from './plan.ts'
import type { Secret } from './run-plan.ts'

const words = texts.install
type Level = { title: string; name: LevelName; href: string; status: string; why: string }

/** The levels that were installed, each with its state and the way to its settings. */
export function SettingsStep({
  found,
  choices,
  secrets,
}: {
  found: Found
  choices: Choices
  secrets: readonly Secret[]
}) {
  const { org = '' } = useRoute().params
  const id = found.own?.installation.id ?? ''
  const read = useLoad(`levels ${id}`, (signal) => readLevels(org, found, choices, signal), 3_000)
  const levels = read.value ?? []
  const hasSettings = Object.keys(found.integration.configurations).length > 0
  const [main = levels[0]] = levels.filter(({ status }) => status === 'pending')
  return (
    <>
      {hasSettings && <p class="muted">{words.settingsWhat}</p>}
      <div class="wide-table">
        <Loaded of={read}>
          {(rows) => (
            <Table
              label={words.steps.settings}
              rows={rows}
              keyOf={({ href }) => href}
              columns={[
                { title: words.columns.state, kind: 'nowrap', cell: ({ status }) => <Chip state={status} /> },
                {
                  title: words.columns.place,
                  kind: 'wide-cell',
                  cell: ({ title, href }) => (
                    <a href={href} dir="auto">
                      {title}
                    </a>
                  ),
                },
                ...(rows.some(({ why }) => why !== '')
                  ? [{ title: words.columns.why, kind: 'wide-cell', cell: ({ why }: Level) => why } as const]
                  : []),
              ]}
            />
          )}
        </Loaded>
      </div>
      {secrets.length > 0 && (
        <details>
          <summary>{words.secrets}</summary>
          <div class="stack">
            <p class="muted">{words.secretsWhat}</p>
            {secrets.map(({ title, secret }) => (
              <div class="row" key={secret}>
                <span dir="auto">{title}</span>
                <code>{secret}</code>
                <CopyButton text={secret} label={words.secretOf(title)} />
              </div>
            ))}
          </div>
        </details>
      )}
      {main && <ComponentOf key={main.href} name={main.name} onSaved={read.reload} />}
      {main && (
        <a class="button main" href={main.href}>
          {hasSettings ? words.openSettings(main.title) : words.openInstallation}
        </a>
      )}
    </>
  )
}

/** The component of the script that asks for the settings, if there is one. */
function ComponentOf({ name, onSaved }: { name: LevelName; onSaved: () => void }) {
  const { value } = useLoad(`component ${pathOf(name)}`, (signal) => readLevel(name, signal))
  const component = value && componentOf(value.form.schema)
  return value && component && <SettingsComponent read={value} name={component} onSaved={onSaved} />
}

/** The organization, and the places that were chosen. */
async function readLevels(
  org: string,
  found: Found,
  choices: Choices,
  signal: AbortSignal,
): Promise<Level[]> {
  const { integration, organization, own, places } = found
  if (own === null) return []
  const params = { integration: integration.name, installation: own.installation.id }
  const nameOf = (place?: Place): LevelName => ({ org, installation: own.installation.id, place })
  const address = 'GET /v1/integrations/{integration}/installations/{installation}'
  const account = await api.call(address, { params, signal })
  const chosen = placeLists.flatMap((list) =>
    chosenOf(places, choices, list).map((place) => ({ list, place })),
  )
  const levels = await Promise.all(
    chosen.slice(0, mostLevels).map(async ({ list, place: { id, title } }) => {
      const level = list === 'sites' ? { site: id } : { space: id }
      const { status, statusReason } = await api.call(address, { params: { ...params, ...level }, signal })
      const name = nameOf({ kind: list === 'sites' ? 'site' : 'space', id })
      return { title, name, href: pathOf(name), status, why: statusReason ?? '' }
    }),
  )
  const { status, statusReason } = account
  const name = nameOf()
  return [...levels, { title: organization.title, name, href: pathOf(name), status, why: statusReason ?? '' }]
}

/** Each is a request. */
const mostLevels = 20
