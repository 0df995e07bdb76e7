import type { IconName } from '../parts/icon.tsx'
import { annexGroup, groups, overview } from '../parts/navigation-links.ts'
import { navigationTexts } from '../texts/navigation.ts'
import { toRecordPath } from './record-path.ts'

/** Where the search can lead. */
export type Target = { path: string; icon: IconName; label: string; detail: string }

/** The pages of the navigation. */
export function findPages(org: string, isOperator: boolean): Target[] {
  const base = `/orgs/${org}`
  const ofGroup = (start: string, { title, links }: { title: string; links: typeof annexGroup.links }) =>
    links.map(({ path, label, icon }) => ({ path: start + path, label, icon, detail: title }))
  return [
    { path: base, label: overview.label, icon: overview.icon, detail: navigationTexts.find.page },
    ...groups.flatMap((group) => ofGroup(base, group)),
    ...(isOperator ? ofGroup('', annexGroup) : []),
  ]
}

/** Records by the prefix of their ids. */
const kinds: Readonly<Record<string, { kind: string; icon: IconName }>> = {
  inst: { kind: 'installation', icon: 'installations' },
  dlv: { kind: 'delivery', icon: 'deliveries' },
  rcv: { kind: 'receiver', icon: 'receivers' },
  job: { kind: 'job', icon: 'failed' },
  site: { kind: 'site', icon: 'places' },
  space: { kind: 'space', icon: 'places' },
  mem: { kind: 'member', icon: 'members' },
  tok: { kind: 'token', icon: 'key' },
}

/** The record of an id that a person pastes, with quotes or spaces around it. */
export function toIdTarget(org: string, text: string): Target | undefined {
  const [, label = '', prefix = ''] =
    /^["'`<(\s]*(([a-z]+)_[0-9a-f]{8}-[0-9a-f-]{27})["'`>),.;\s]*$/.exec(text.toLowerCase()) ?? []
  const goTo = (path: string, icon: IconName, detail: string): Target => ({ path, icon, label, detail })
  if (prefix === 'req') {
    return goTo(`/orgs/${org}/dispatches/${label}`, 'dispatches', navigationTexts.find.dispatch)
  }
  if (prefix === 'evt') {
    return goTo(`/orgs/${org}/dispatches?event=${label}`, 'dispatches', navigationTexts.find.event)
  }
  if (prefix === 'org') return goTo(`/orgs/${label}`, 'overview', navigationTexts.find.record('organization'))
  const record = kinds[prefix]
  const path = record && toRecordPath(org, { kind: record.kind, id: label })
  if (record === undefined || path === undefined) return undefined
  return goTo(path, record.icon, navigationTexts.find.record(record.kind))
}
