import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { Cancel } from '../../parts/cancel.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { sayDone } from '../../state.ts'
import { placeTexts as texts } from '../../texts/places.ts'
import { PlaceFields, type PlaceValues } from './place-fields.tsx'

export type Kind = 'site' | 'space'

/** A new site or space. */
export function MakePlace({
  org,
  kind,
  onClose,
  onMade,
}: {
  org: string
  kind: Kind
  onClose: () => void
  onMade: (id: string) => void
}) {
  const [typed, setTyped] = useState<{ title: string; slug?: string; url: string }>({ title: '', url: '' })
  const { title, slug = toSlug(title), url } = typed
  const change = (given: Partial<PlaceValues>) => setTyped((before) => ({ ...before, ...given }))
  const label = kind === 'site' ? texts.makeSite : texts.makeSpace
  const make = async () => {
    const body = { title: title.trim(), slug, ...(url !== '' && { url }) }
    const { id } =
      kind === 'site'
        ? await api.call('POST /v1/orgs/{org}/sites', { params: { org }, body })
        : await api.call('POST /v1/orgs/{org}/spaces', { params: { org }, body })
    sayDone(texts.made(title))
    onMade(id)
  }
  return (
    <Dialog title={label} onClose={onClose}>
      <Form submit={make} label={label}>
        <PlaceFields title={title} slug={slug} url={url} onChange={change} />
      </Form>
      <Cancel act={onClose} />
    </Dialog>
  )
}

const toSlug = (title: string): string =>
  title
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^-|-$/g, '')
