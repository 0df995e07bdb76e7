import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { api } from '../api.ts'
import { findPages, type Target, toIdTarget } from '../lists/find-targets.ts'
import { me } from '../state.ts'
import { navigationTexts } from '../texts/navigation.ts'
import { useLoad } from '../use-load.ts'
import { Chooser, hasWords } from './chooser.tsx'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'

const texts = navigationTexts.find
const most = 100
const mostShown = 50

/** Finds pages, integrations and installations by words, and a record by its id. */
export default function Find({ org, onClose }: { org: string; onClose: () => void }) {
  const { route } = useLocation()
  const [words, setWords] = useState('')
  const { value: named = [] } = useLoad(`to find ${org}`, (signal) => readNamed(org, signal))
  const ofId = toIdTarget(org, words)
  const all = [...findPages(org, me.value?.account?.operator === true), ...named]
  const found = ofId
    ? [ofId]
    : all.filter(({ label, detail }) => hasWords(`${label} ${detail}`, words.trim())).slice(0, mostShown)
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <Chooser
        label={texts.search}
        listLabel={texts.found}
        words={words}
        onWords={setWords}
        items={found}
        keyOf={({ path }) => path}
        onChoose={({ path }) => {
          onClose()
          route(path)
        }}
      >
        {({ icon, label, detail }) => (
          <>
            <Icon name={icon} />
            <span dir="auto">
              <strong>{label}</strong>
              <span class="muted small">{detail}</span>
            </span>
          </>
        )}
      </Chooser>
      <p class="muted small" role="status">
        {found.length === 0 ? texts.none : `${texts.count(found.length)}. ${texts.hint}`}
      </p>
    </Dialog>
  )
}

async function readNamed(org: string, signal: AbortSignal): Promise<Target[]> {
  const query = { organization: org, limit: most }
  const [installations, integrations] = await Promise.all([
    api.call('GET /v1/installations', { query, signal }),
    api.call('GET /v1/integrations', { query, signal }),
  ])
  const titles = new Map(integrations.items.map(({ name, title }) => [name, title]))
  return [
    ...integrations.items.map(
      ({ name, title }): Target => ({
        path: `/orgs/${org}/integrations/${encodeURIComponent(name)}`,
        icon: 'integrations',
        label: title,
        detail: `${texts.integration} ${name}`,
      }),
    ),
    ...installations.items.map(
      ({ id, integration }): Target => ({
        path: `/orgs/${org}/installations/${id}`,
        icon: 'installations',
        label: titles.get(integration) ?? integration,
        detail: `${texts.installation} ${id}`,
      }),
    ),
  ]
}
