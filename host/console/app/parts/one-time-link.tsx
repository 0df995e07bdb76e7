import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Answer } from '../../../../schemas/client.ts'
import { api } from '../api.ts'
import { texts } from '../texts.ts'
import { useLoad } from '../use-load.ts'
import { ErrorNote } from './error-note.tsx'
import { Head } from './head.tsx'
import { Loaded } from './state.tsx'

type Link = Answer<'POST /v1/links'>

/**
 * A page whose address has a link in its fragment, which is sent to no server and stands in no log. The link is read first
 * and used up by the page's form alone.
 */
export function OneTimeLink({
  kind,
  broken,
  children,
}: {
  kind: Link['kind']
  /** What to do when the link does not work. */
  broken: string
  children: (link: string, found: Link) => ComponentChildren
}) {
  // The form leads to another address: the link is still needed then.
  const [link] = useState(() => location.hash.slice(1))
  const found = useLoad(`link ${link}`, async () => {
    const value = await api.call('POST /v1/links', { body: { link } })
    if (value.kind !== kind) throw new Error(texts.links.other)
    return value
  })
  if (link === '' || found.error !== undefined) {
    return (
      <>
        <Head title={texts.links.title} />
        {link === '' ? <p>{texts.links.missing}</p> : <ErrorNote error={found.error} />}
        <p>{broken}</p>
        <p>
          <a href="/sign-in">{texts.signIn.action}</a>
        </p>
      </>
    )
  }
  return <Loaded of={found}>{(value) => children(link, value)}</Loaded>
}
