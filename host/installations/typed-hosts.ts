import { isIPv4 } from 'node:net'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Configuration, SettingDetails } from '../db/queries/installations.ts'
import { isSameHost } from '../egress/declared-hosts.ts'
import { type LevelKind, propertyOf } from '../manifest/settings/check-configuration.ts'
import { takesTypedHost } from '../manifest/settings/typed-settings.ts'
import type { StoredSettings } from './secret-settings.ts'

// Hosts that a person typed in settings: deliveries go there beside the hosts of `egress`. The mark of a typed value is stored
// with it. A script could otherwise store the address of a foreign host, and send data there.

type Settings = Manifest['configurations'] | undefined

/**
 * The host that a setting names: a whole web address, or a host alone. A text with an address in it names none, nor does an
 * address with a user name: `https://good.example@evil.example` reads as the wrong host.
 */
export function hostOf(value: unknown): URL | undefined {
  const text = typeof value === 'string' ? value.trim() : ''
  if (text === '' || /[\s\\]/.test(text)) return undefined
  const isAddress = /^https?:\/\//i.test(text)
  const url = isAddress ? URL.parse(text) : /[/?#@%]/.test(text) ? null : URL.parse(`https://${text}`)
  if (url === null || url.username !== '' || url.password !== '') return undefined
  return isAddress || isWholeName(text, url.hostname) ? url : undefined
}

/** A number such as `3.10` is no host, although the URL parser makes an address of it. */
const isWholeName = (text: string, hostname: string): boolean =>
  hostname.startsWith('[') || /\.[a-z][a-z\d-]+\.?$/.test(hostname) || isIPv4(text.replace(/:\d+$/, ''))

/** Whether the value of a setting gets the mark when a person enters it. */
export const isTypedHost = (settings: Settings, level: LevelKind, name: string, value: unknown): boolean =>
  takesTypedHost(propertyOf({ configurations: settings }, level, name)) && hostOf(value) !== undefined

/**
 * The settings that an edit of a whole level makes a person's. A form sends all settings back, in a spelling of its own: a host
 * that the script has stored stays the script's.
 */
export const retypedNames = (
  { configuration, settingDetails }: Omit<StoredSettings, 'kind'>,
  given: Configuration,
  entered: readonly string[],
): string[] =>
  entered.filter(
    (name) =>
      typedNames(settingDetails).includes(name) ||
      hostOf(configuration[name])?.host !== hostOf(given[name])?.host,
  )

/** True when a person typed the host of a URL in the settings of a level. */
export function hasTypedHost(
  settings: Settings,
  { kind, configuration, settingDetails }: StoredSettings,
  url: URL,
): boolean {
  return typedNames(settingDetails).some((name) => {
    const host = takesTypedHost(propertyOf({ configurations: settings }, kind, name))
      ? hostOf(configuration[name])
      : undefined
    return host !== undefined && isSameHost(host, url)
  })
}

const typedNames = (details: SettingDetails): string[] =>
  Object.entries(details).flatMap(([name, { typed }]) => (typed === true ? [name] : []))
