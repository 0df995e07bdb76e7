import { shorten } from './copy.tsx'

/** A dispatch has the id of its request. */
export const pathOfDispatch = (org: string, request: string): string =>
  `/orgs/${org}/dispatches/${encodeURIComponent(request)}`

export const DispatchLink = ({ org, request }: { org: string; request: string }) => (
  <a href={pathOfDispatch(org, request)} title={request}>
    <code>{shorten(request)}</code>
  </a>
)
