import { dispatchTexts } from '../texts/dispatches.ts'
import { installationTexts } from '../texts/installation.ts'
import { navigationTexts as words } from '../texts/navigation.ts'
import { referenceTexts } from '../texts/reference.ts'
import { texts } from '../texts.ts'
import type { IconName } from './icon.tsx'

/** `also`: addresses of records that the page lists. */
export type Link = { path: string; label: string; icon: IconName; also?: readonly string[] }

export const overview: Link = { path: '', label: texts.overview.title, icon: 'overview' }
export const groups: readonly { title: string; links: readonly Link[] }[] = [
  {
    title: words.groups.integrations,
    links: [
      { path: '/installations', label: installationTexts.list.title, icon: 'installations' },
      { path: '/integrations', label: texts.catalogue.title, icon: 'integrations' },
    ],
  },
  {
    title: words.groups.work,
    links: [
      { path: '/deliveries', label: texts.deliveries.title, icon: 'deliveries' },
      { path: '/dispatches', label: dispatchTexts.title, icon: 'dispatches' },
      { path: '/receivers', label: texts.receivers.title, icon: 'receivers' },
      { path: '/failed-work', label: words.failedWork, icon: 'failed' },
      { path: '/logs', label: words.logs, icon: 'logs' },
    ],
  },
  {
    title: words.groups.organization,
    links: [
      { path: '/places', label: words.places, icon: 'places', also: ['/sites', '/spaces'] },
      { path: '/members', label: texts.members.title, icon: 'members' },
      { path: '/tokens', label: words.tokens, icon: 'key' },
      { path: '/usage', label: words.usage, icon: 'usage' },
      { path: '/audit', label: words.audit, icon: 'audit' },
      { path: '/docs', label: referenceTexts.title, icon: 'book' },
    ],
  },
]
/** For operators. Their addresses name no organization. */
export const annexGroup = {
  title: words.groups.annex,
  links: [
    { path: '/versions', label: words.versions, icon: 'integrations' },
    { path: '/tokens', label: words.tokens, icon: 'key' },
    { path: '/audit', label: words.audit, icon: 'audit' },
  ] as readonly Link[],
}
