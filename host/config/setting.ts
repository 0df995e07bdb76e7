import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { describeWrongMapping, parseRoleMapping } from './role-mapping.ts'

/** The value of each kind of setting. */
export type SettingValues = {
  text: string
  integer: number
  flag: boolean
  list: string[]
  choice: string
  url: string
  key: string
  seconds: number[]
  host: string
  allow: string[]
  issuer: string
  roles: string[]
}

type SettingKind = keyof SettingValues

/** A day. Timers count to 24 of them, and with one ms more they fire at once. */
export const longestMs = 86_400_000

export type Setting = {
  kind: SettingKind
  default: string
  /** The meaning, with the unit. */
  meaning: string
  min?: number
  max?: number
  /** Of kind `choice`: what it may be; of kind `list`: what each of its parts may be. */
  choices?: readonly string[]
  secret?: boolean
}

/** The meaning, with the range where there is one: for `annex config --print` and docs/settings.md. */
export function describeSetting({ meaning, min, max }: Setting): string {
  if (max !== undefined) return `${meaning} (${min} to ${max})`
  // A lower bound of 0 is not printed.
  return min === undefined || min === 0 ? meaning : `${meaning} (at least ${min})`
}

/** A week, so that a mistake in the unit shows. */
const maxSeconds = 7 * 86_400
const maxWaits = 50

export function parseSetting(
  text: string,
  setting: Pick<Setting, 'kind' | 'min' | 'max' | 'choices'>,
): SettingValues[SettingKind] | { problem: string } {
  switch (setting.kind) {
    case 'text':
      return text
    case 'choice': {
      const { choices = [] } = setting
      return choices.includes(text) ? text : { problem: `"${text}" is none of ${choices.join(', ')}` }
    }
    case 'url':
      if (text === '' || isUrlOrigin(text)) return text
      return { problem: `"${text}" is not an http or https address without a path (https://annex.example)` }
    case 'issuer':
      if (text === '' || isIssuer(text)) return text
      return {
        problem: `"${text}" is not an https address without user, query and fragment (https://login.example/annex). HTTP is for a provider on this machine`,
      }
    case 'key':
      if (text === '' || Buffer.from(text, 'base64').length === 32) return text
      // Without the text: it is a secret, though a wrong one.
      return { problem: 'it is not 32 bytes in base64; make one with: openssl rand -base64 32' }
    case 'host':
      if (isIP(text) !== 0 || parseHostName(text) !== undefined) return text
      return {
        problem:
          `"${text}" is no address and no host name. Write for example "127.0.0.1", or "0.0.0.0" for all addresses of ` +
          'this machine, without scheme, port or path',
      }
    case 'allow': {
      const parts = toParts(text)
      const wrong = parts.find((part) => parseAllowEntry(part) === undefined)
      return wrong === undefined ? parts : { problem: describeWrongEntry(wrong) }
    }
    case 'roles': {
      const parts = toParts(text)
      const wrong = parts.find((part) => parseRoleMapping(part) === undefined)
      return wrong === undefined ? parts : { problem: describeWrongMapping(wrong) }
    }
    case 'list': {
      const parts = toParts(text)
      const { choices } = setting
      const wrong = parts.find((part) => choices !== undefined && !choices.includes(part))
      return wrong === undefined ? parts : { problem: `"${wrong}" is none of ${choices?.join(', ')}` }
    }
    case 'seconds': {
      const parts = text.split(',').map((part) => Number(part))
      const wrong = parts.findIndex((part) => !(part >= 0.001 && part <= maxSeconds))
      if (wrong === -1 && parts.length <= maxWaits) return parts
      return {
        problem: `"${text}" is not a list of up to ${maxWaits} waits of 0.001 to ${maxSeconds} seconds`,
      }
    }
    case 'flag':
      if (['true', '1', 'yes', 'on'].includes(text)) return true
      if (['false', '0', 'no', 'off'].includes(text)) return false
      return { problem: `"${text}" is neither true nor false` }
    case 'integer': {
      const value = Number(text)
      const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = setting
      if (!Number.isSafeInteger(value)) return { problem: `"${text}" is not a whole number` }
      if (value < min || value > max) return { problem: `${value} is not within ${min} to ${max}` }
      return value
    }
  }
}

const toParts = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** Scheme, host and port alone; a slash at the end does no harm. */
function isUrlOrigin(text: string): boolean {
  const url = URL.parse(text)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return false
  return url.href === `${url.origin}/` && !/[?#]/.test(text)
}

/** The provider's answers decide who is an operator: the network on the way must not write them. */
function isIssuer(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '' || /[?#\s]/.test(text)) return false
  const isHere = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere)
}

/** An entry of EGRESS_ALLOW: a name, or as many addresses as begin with the same bits. */
export type AllowEntry = { name: string } | { address: string; bits: number }

/** @returns nothing for what is neither host name, address nor CIDR range */
export function parseAllowEntry(entry: string): AllowEntry | undefined {
  const [address = '', bits, ...rest] = entry.replaceAll(/[[\]]/g, '').split('/')
  const family = address.includes('%') ? 0 : isIP(address)
  if (family === 0) {
    const name = parseHostName(entry)
    return name === undefined ? undefined : { name }
  }
  const most = family === 4 ? 32 : 128
  if (bits === undefined) return { address, bits: most }
  return rest.length === 0 && /^\d+$/.test(bits) && Number(bits) <= most
    ? { address, bits: Number(bits) }
    : undefined
}

/** The text of the error for an entry that cannot be parsed. */
export const describeWrongEntry = (entry: string): string =>
  `"${entry}" is no host name, address or CIDR range. Write for example "ci.internal", "10.1.2.3" or "10.1.0.0/16", ` +
  'without scheme, port or path'

/** @returns the name in ASCII and small letters, or nothing when it can be none */
function parseHostName(text: string): string | undefined {
  const name = plainName(domainToASCII(text))
  // A last label of digits would make the URL parser read it as an address, so it can never match.
  return /^([a-z0-9_-]+\.)*[a-z_-][a-z0-9_-]*$/.test(name) ? name : undefined
}

/** Case and a last dot do not matter. */
export const plainName = (hostname: string): string => hostname.toLowerCase().replace(/\.$/, '')
