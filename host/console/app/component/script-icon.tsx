import { Icon, type IconName } from '../parts/icon.tsx'
import { isElement } from './tree.ts'
import type { View } from './view.ts'

/** Names of icons as scripts write them. An unknown name is no icon. */
const names: Readonly<Record<string, IconName>> = {
  check: 'check',
  close: 'cross',
  cross: 'cross',
  copy: 'copy',
  link: 'link',
  'link-external': 'link',
  lock: 'lock',
  warning: 'warning',
  info: 'note',
  clock: 'clock',
  user: 'person',
  users: 'members',
  key: 'key',
  menu: 'menu',
  chart: 'overview',
  settings: 'integrations',
  pause: 'pause',
  'arrow-left': 'back',
  'arrow-right': 'forth',
}

/** An icon: a name, or an image. */
export function ScriptIcon({ icon, view }: { icon: unknown; view: View }) {
  if (isElement(icon) && icon.type === 'image') return <span class="c-icon">{view.draw(icon)}</span>
  const name = typeof icon === 'string' && Object.hasOwn(names, icon) ? names[icon] : undefined
  return name === undefined ? null : <Icon name={name} />
}
