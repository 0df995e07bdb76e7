/** Records that have a page, by the kind of an audit's subject. */
const pages: ReadonlyMap<string, string> = new Map([
  ['installation', 'installations'],
  ['site_installation', 'installations'],
  ['space_installation', 'installations'],
  ['receiver', 'receivers'],
  ['delivery', 'deliveries'],
  ['job', 'failed-work'],
  ['integration', 'integrations'],
  ['site', 'sites'],
  ['space', 'spaces'],
])
/** Records that stand in a list alone. */
const lists: ReadonlyMap<string, string> = new Map([
  ['member', '/members'],
  ['token', '/tokens'],
  ['organization', ''],
])

/** The page of a record, or of the list that it stands in. Undefined: it has none. */
export function toRecordPath(org: string, { kind, id }: { kind: string; id: string }): string | undefined {
  const base = `/orgs/${org}`
  const list = lists.get(kind)
  if (list !== undefined) return base + list
  const page = pages.get(kind)
  if (page === undefined) return undefined
  // A site or space installation is `inst_…/site_…`.
  const [first = '', place] = id.split('/')
  const own = `${base}/${page}/${encodeURIComponent(first)}`
  if (place === undefined) return own
  return `${own}/${kind === 'site_installation' ? 'sites' : 'spaces'}/${encodeURIComponent(place)}`
}
