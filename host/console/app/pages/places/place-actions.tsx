import { useState } from 'preact/hooks'
import type { Site } from '../../../../../schemas/generated/api/sites.ts'
import type { Space } from '../../../../../schemas/generated/api/spaces.ts'
import { api } from '../../api.ts'
import { Action } from '../../parts/action.tsx'
import { Cancel } from '../../parts/cancel.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Choice, Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { More } from '../../parts/more.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { placeTexts as texts } from '../../texts/places.ts'
import { PlaceFields, type PlaceValues } from './place-fields.tsx'

export type Place = Pick<Site | Space, 'object' | 'id' | 'title' | 'slug' | 'urls' | 'visibility'>
type Given = { org: string; place: Place }

const operations = {
  site: { change: 'updateSiteById', remove: 'deleteSiteById' },
  space: { change: 'updateSpaceById', remove: 'deleteSpaceById' },
} as const

/** Changes and deletes a site or space. */
export function PlaceActions({
  org,
  place,
  kind = '',
  onChange,
  onDeleted,
}: Given & { kind?: '' | 'plain'; onChange: () => void; onDeleted: () => void }) {
  const [open, setOpen] = useState<'change' | 'delete'>()
  const close = () => setOpen(undefined)
  const { change, remove } = operations[place.object]
  const name = <span class="visually-hidden">{place.title}</span>
  const deleting = (
    <Action
      kind={kind === 'plain' ? kind : 'bad'}
      act={() => setOpen('delete')}
      reason={reasonAgainst(remove)}
    >
      {texts.delete}
      {name}
    </Action>
  )
  return (
    <>
      <Action kind={kind} act={() => setOpen('change')} reason={reasonAgainst(change)}>
        {texts.change}
        {name}
      </Action>
      {kind === 'plain' ? deleting : <More>{deleting}</More>}
      {open === 'change' && <Change {...{ org, place, close, onChange }} />}
      {open === 'delete' && <Delete {...{ org, place, close, onDeleted }} />}
    </>
  )
}

function Change({ org, place, close, onChange }: Given & { close: () => void; onChange: () => void }) {
  const { published = '' } = place.urls
  const [{ title, slug, url }, setTyped] = useState({ title: place.title, slug: place.slug, url: published })
  const change = (given: Partial<PlaceValues>) => setTyped((before) => ({ ...before, ...given }))
  const [visibility, setVisibility] = useState(place.visibility)
  const save = async () => {
    const body = {
      ...(title !== place.title && { title }),
      ...(slug !== place.slug && { slug }),
      ...(url !== published && { url: url === '' ? null : url }),
      ...(visibility !== place.visibility && { visibility }),
    }
    if (Object.keys(body).length > 0)
      await (place.object === 'site'
        ? api.call('PATCH /v1/orgs/{org}/sites/{site}', { params: { org, site: place.id }, body })
        : api.call('PATCH /v1/spaces/{space}', {
            params: { space: place.id },
            query: { organization: org },
            body,
          }))
    sayDone(texts.saved)
    close()
    onChange()
  }
  return (
    <Dialog title={texts.changeTitle(place.title)} onClose={close}>
      <Form submit={save} label={texts.save}>
        <PlaceFields title={title} slug={slug} url={url} onChange={change} />
        <Choice
          label={texts.visibility}
          value={visibility}
          options={Object.entries(texts.visibilities).map(([value, label]) => ({ value, label }))}
          onValue={(value) => setVisibility(value as Place['visibility'])}
        />
      </Form>
      <Cancel act={close} />
    </Dialog>
  )
}

function Delete({ org, place, close, onDeleted }: Given & { close: () => void; onDeleted: () => void }) {
  const [typed, setTyped] = useState('')
  const remove = async () => {
    await (place.object === 'site'
      ? api.call('DELETE /v1/orgs/{org}/sites/{site}', { params: { org, site: place.id } })
      : api.call('DELETE /v1/spaces/{space}', { params: { space: place.id }, query: { organization: org } }))
    sayDone(texts.deleted(place.title))
    close()
    onDeleted()
  }
  return (
    <Dialog title={texts.deleteTitle(place.title)} onClose={close}>
      <Form
        submit={remove}
        label={texts.deleteAction[place.object]}
        kind="bad"
        reason={typed.trim() === place.slug ? undefined : texts.typeSlug(place.slug)}
      >
        <p>{texts.deleteWhat[place.object]}</p>
        <p class="muted">{texts.deleteFirst}</p>
        <Field label={texts.typeSlug(place.slug)} autocomplete="off" value={typed} onValue={setTyped} />
      </Form>
      <Cancel act={close} />
    </Dialog>
  )
}
