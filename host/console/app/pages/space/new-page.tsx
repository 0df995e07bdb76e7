import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { api } from '../../api.ts'
import { Choice, Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Head } from '../../parts/head.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { spaceTexts as texts } from '../../texts/space.ts'
import { PageNav } from './page-nav.tsx'
import { addressOf } from './space-address.ts'
import { crumbsOf, type PartProps } from './use-space.ts'

/** A new page: its title, its path and its place. */
export function NewPage({ of, reload }: PartProps) {
  const { org, space, record, all, paths } = of
  const { route } = useLocation()
  const { query } = useRoute()
  const [title, setTitle] = useState('')
  const [below, setBelow] = useState(all.find(({ id }) => id === query.below)?.id ?? '')
  const [typedPath, setTypedPath] = useState<string>()
  const parent = all.find(({ id }) => id === below)
  const path = typedPath ?? toPath(parent?.path, title)
  const isTaken = paths.has(path)
  const make = async () => {
    const made = await api.call('PUT /v1/spaces/{space}/content/page/{page}', {
      params: { space, page: path },
      query: { organization: org },
      body: { title, markdown: '', ...(parent && { parent: parent.id }) },
    })
    sayDone(texts.made(title))
    route(`${addressOf(org, space, 'pages', made.path)}?edit`)
    reload()
  }
  const reason =
    reasonAgainst('putPage') ?? (record.ofFolder ? texts.ofFolder : isTaken ? texts.pathTaken : undefined)
  return (
    <>
      <Head title={texts.newTitle} crumbs={[...crumbsOf(of), { label: texts.newTitle }]}>
        {texts.newWhat}
      </Head>
      <div class="space">
        <PageNav of={of} current={parent} />
        <div class="page-body">
          <Form submit={make} label={texts.make} reason={reason}>
            <Field label={texts.title} value={title} onValue={setTitle} required />
            {all.length > 0 && (
              <Choice
                label={texts.below}
                value={below}
                options={[
                  { value: '', label: texts.top },
                  ...all.map((page) => ({ value: page.id, label: page.title })),
                ]}
                onValue={setBelow}
              />
            )}
            <Field
              label={texts.path}
              hint={texts.pathHint}
              wrong={isTaken ? texts.pathTaken : undefined}
              value={path}
              onValue={setTypedPath}
              required
            />
          </Form>
        </div>
      </div>
    </>
  )
}

/** Words of a title as a path: letters and digits of all languages stay. */
function toPath(above: string | undefined, title: string): string {
  const slug = title
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 100)
  return [above, slug].filter(Boolean).join('/')
}
