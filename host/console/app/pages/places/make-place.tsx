import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { sayDone } from '../../state.ts'
import { placeTexts as texts } from '../../texts/places.ts'
import { texts as general } from '../../texts.ts'

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
  const [title, setTitle] = useState('')
  const [slug, setSlug] = useState<string>()
  const [url, setUrl] = useState('')
  const label = kind === 'site' ? texts.makeSite : texts.makeSpace
  const make = async () => {
    const body = { title: title.trim(), slug: slug ?? toSlug(title), ...(url !== '' && { url }) }
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
        <Field label={texts.titleOf} required autocomplete="off" value={title} onValue={setTitle} />
        <Field
          label={texts.slug}
          hint={texts.slugHint}
          required
          autocomplete="off"
          value={slug ?? toSlug(title)}
          onValue={setSlug}
        />
        <Field
          label={texts.url}
          hint={texts.urlHint}
          type="url"
          autocomplete="off"
          value={url}
          onValue={setUrl}
        />
      </Form>
      <div>
        <button type="button" class="plain" onClick={onClose}>
          {general.cancel}
        </button>
      </div>
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
