import { shorten } from './copy.tsx'

/** A dispatch, by the id of its request. */
export const DispatchLink = ({ org, request }: { org: string; request: string }) => (
  <a href={`/orgs/${org}/dispatches/${request}`} title={request}>
    <code>{shorten(request)}</code>
  </a>
)
