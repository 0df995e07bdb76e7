import { useState } from 'preact/hooks'
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
import { RemoveSchema } from './remove-schema.tsx'
import { SchemaConflict } from './schema-conflict.tsx'

const texts = placeTexts.audience
const address = '/v1/orgs/{org}/sites/{site}/adaptive-schema'
type Schema = SiteAdaptiveSchema['jsonSchema']

const toText = (schema: object): string => JSON.stringify(schema, null, 2)

/** A beginning for a site that has none. */
const example = {
  type: 'object',
  properties: {
    plan: { type: 'string', description: 'What the visitor has bought.', enum: ['free', 'pro'] },
  },
  additionalProperties: false,
}

/** A schema as it was read. Without an ETag there is none, and the text is an example. */
type Stored = { text: string; etag?: string }
type Given = { org: string; site: string; onChanged: () => void }

const none: Stored = { text: toText(example) }

/** The schema of visitors' claims, read and edited as JSON. */
export function Audience({ org, site, onChanged }: { org: string; site: Site; onChanged: () => void }) {
  const { enabled } = site.adaptiveContent
  const schema = useLoad(`audience ${org} ${site.id} ${enabled}`, async (signal) =>
    enabled ? readStored(org, site.id, signal) : none,
  )
  const change = () => {
    schema.reload()
    onChanged()
  }
  return (
    <section class="audience">
      <h2>{texts.title}</h2>
      <p class="muted">{enabled ? texts.what : texts.none}</p>
      <Loaded of={schema}>
        {(stored) => <Editor key={stored.etag} org={org} site={site.id} stored={stored} onChanged={change} />}
      </Loaded>
    </section>
  )
}

async function readStored(org: string, site: string, signal?: AbortSignal): Promise<Stored> {
  try {
    const { value, etag } = await api.read(`GET ${address}`, {
      params: { org, site },
      ...(signal && { signal }),
    })
    return { text: toText(value.jsonSchema), etag }
  } catch (error) {
    if (!isApiError(error, 'not_found')) throw error
    // The site itself may be gone.
    await api.call('GET /v1/orgs/{org}/sites/{site}', { params: { org, site } })
    return none
  }
}

const isStale = (error: unknown): boolean =>
  isApiError(error, 'precondition_failed') || isApiError(error, 'precondition_required')

function Editor({ org, site, stored, onChanged }: Given & { stored: Stored }) {
  const [text, setText] = useState(stored.text)
  const [base, setBase] = useState(stored)
  const [theirs, setTheirs] = useState<Stored>()
  const [faults, setFaults] = useState<{ what: string; list: JsonFault[] }>()
  const reason = reasonAgainst('updateSiteAdaptiveSchema')
  const save = (from: Stored) => async () => {
    setFaults(undefined)
    const parsed = parseJson(text)
    if ('fault' in parsed) return setFaults({ what: texts.noJson, list: [parsed.fault] })
    try {
      await api.call(`PUT ${address}`, {
        params: { org, site },
        headers: from.etag === undefined ? {} : { 'if-match': from.etag },
        body: { jsonSchema: parsed.value as Schema },
      })
    } catch (error) {
      if (isStale(error)) return setTheirs(await readStored(org, site))
      const list = toFaults(error, text)
      if (list.length === 0) throw error
      return setFaults({ what: texts.refused, list })
    }
    sayDone(texts.saved)
    setTheirs(undefined)
    onChanged()
  }
  const take = (other: Stored) => {
    setText(other.text)
    setBase(other)
    setTheirs(undefined)
    onChanged()
  }
  return (
    <>
      {theirs && (
        <SchemaConflict
          mine={text}
          theirs={theirs.text}
          isGone={theirs.etag === undefined}
          keepMine={save(theirs)}
          takeTheirs={() => take(theirs)}
        />
      )}
      <Form submit={save(base)} label={texts.save} reason={reason}>
        <TextArea label={texts.label} hint={texts.hint} rows={16} value={text} onValue={setText} />
        {faults && <Faults {...faults} />}
        {reason !== undefined && <p class="muted small">{reason}</p>}
      </Form>
      {base.etag !== undefined && <RemoveSchema {...{ org, site, onChanged }} etag={base.etag} />}
    </>
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
