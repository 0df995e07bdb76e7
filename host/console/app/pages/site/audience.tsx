import { useEffect, useState } from 'preact/hooks'
import { isApiError } from '../../../../../schemas/client.ts'
import type { Site } from '../../../../../schemas/generated/api/sites.ts'
import type { SiteAdaptiveSchema } from '../../../../../schemas/generated/api/visitors.ts'
import { api } from '../../api.ts'
import { type JsonFault, lineOf, linesOf, parseJson } from '../../lists/json-lines.ts'
import { Form } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/state.tsx'
import { TextArea } from '../../parts/text-area.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { placeTexts } from '../../texts/places.ts'
import { useLoad } from '../../use-load.ts'

const texts = placeTexts.audience
const address = '/v1/orgs/{org}/sites/{site}/adaptive-schema'
type Schema = SiteAdaptiveSchema['jsonSchema']

/** A beginning for a site that has none. */
const example = {
  type: 'object',
  properties: {
    plan: { type: 'string', description: 'What the visitor has bought.', enum: ['free', 'pro'] },
  },
  additionalProperties: false,
}

/** The schema of visitors' claims, read and edited as JSON. */
export function Audience({ org, site, onSaved }: { org: string; site: Site; onSaved: () => void }) {
  const { enabled } = site.adaptiveContent
  const schema = useLoad(`audience ${org} ${site.id} ${enabled}`, async (signal) => {
    if (!enabled) return { text: toText(example) }
    const { jsonSchema } = await api.call(`GET ${address}`, { params: { org, site: site.id }, signal })
    return { text: toText(jsonSchema) }
  })
  return (
    <section class="audience">
      <h2>{texts.title}</h2>
      <p class="muted">{enabled ? texts.what : texts.none}</p>
      <Loaded of={schema}>
        {({ text }) => <Editor org={org} site={site.id} stored={text} onSaved={onSaved} />}
      </Loaded>
    </section>
  )
}

const toText = (schema: object): string => JSON.stringify(schema, null, 2)

function Editor({
  org,
  site,
  stored,
  onSaved,
}: {
  org: string
  site: string
  stored: string
  onSaved: () => void
}) {
  const [text, setText] = useState(stored)
  const [faults, setFaults] = useState<{ what: string; list: JsonFault[] }>()
  const reason = reasonAgainst('updateSiteAdaptiveSchema')
  useEffect(() => setText(stored), [stored])
  const save = async () => {
    setFaults(undefined)
    const parsed = parseJson(text)
    if ('fault' in parsed) return setFaults({ what: texts.noJson, list: [parsed.fault] })
    try {
      await api.call(`PUT ${address}`, {
        params: { org, site },
        headers: { 'if-match': '*' },
        body: { jsonSchema: parsed.value as Schema },
      })
    } catch (error) {
      const list = toFaults(error, text)
      if (list.length === 0) throw error
      return setFaults({ what: texts.refused, list })
    }
    sayDone(texts.saved)
    onSaved()
  }
  return (
    <Form submit={save} label={texts.save} reason={reason}>
      <TextArea label={texts.label} hint={texts.hint} rows={16} value={text} onValue={setText} />
      {faults && <Faults {...faults} />}
      {reason !== undefined && <p class="muted small">{reason}</p>}
    </Form>
  )
}

/** What Annex refuses, with the line of each place. The first message about a place says most. */
function toFaults(error: unknown, text: string): JsonFault[] {
  if (!isApiError(error)) return []
  const lines = linesOf(text)
  const first = new Map(error.details.toReversed().map((detail) => [detail.path, detail]))
  return [...first.values()].reverse().map(({ path, message }) => {
    const pointer = path.replace(/^\/jsonSchema/, '')
    const line = lineOf(lines, pointer)
    return { message: `${pointer} ${message}`.trim(), ...(line !== undefined && { line }) }
  })
}

const Faults = ({ what, list }: { what: string; list: readonly JsonFault[] }) => (
  <div class="note bad" role="alert">
    <Icon name="warning" />
    <div>
      <strong>{what}</strong>
      {list.map(({ line, message }) => (
        <span class="detail" key={`${line} ${message}`}>
          {line !== undefined && <strong>{texts.line(line)}: </strong>}
          {message}
        </span>
      ))}
    </div>
  </div>
)
