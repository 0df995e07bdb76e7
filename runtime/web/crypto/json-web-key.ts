import { NativeTypeError, quote } from '../primordials.ts'
import { listText } from './call-writer.ts'
import { toTexts } from './conversions.ts'

/** Web Crypto, 15: the members of a JsonWebKey, in the order in which Web IDL reads them. */
const members = 'alg crv d dp dq e ext k key_ops kty n oth p q qi use x y'.split(' ')

/** A JSON Web Key as JSON, with the members that the dictionary has. Runs getters of the script, once each. */
export const webKeyText = (value: unknown): string => {
  if (value !== undefined && value !== null && typeof value !== 'object' && typeof value !== 'function') {
    throw new NativeTypeError('The key must be bytes or a JSON Web Key')
  }
  let text = ''
  for (let i = 0; i < members.length; i++) {
    const name = members[i] ?? ''
    const member = (value as Record<string, unknown> | null | undefined)?.[name]
    if (member !== undefined) text += `${text === '' ? '' : ','}"${name}":${memberText(name, member)}`
  }
  return `{${text}}`
}

const memberText = (name: string, value: unknown): string => {
  if (name === 'ext') return value ? 'true' : 'false'
  if (name === 'key_ops') return listText(toTexts(value, '"key_ops" of a JSON Web Key'))
  // No operation takes more than two primes: that there are others is enough to know.
  if (name === 'oth') return '[]'
  return quote(`${value as string}`)
}
