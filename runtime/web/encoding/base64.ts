import { DOMException } from '../events/dom-exception.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const sextets = new Int16Array(128).fill(-1)
for (let i = 0; i < alphabet.length; i++) sextets[alphabet.charCodeAt(i)] = i

/** HTML standard, 8.3: each character of `data` is a byte. Throws InvalidCharacterError over U+00FF. */
export function btoa(data: string): string {
  const text = `${data}`
  let out = ''
  for (let i = 0; i < text.length; i += 3) {
    const left = text.length - i
    const a = text.charCodeAt(i)
    const b = left > 1 ? text.charCodeAt(i + 1) : 0
    const c = left > 2 ? text.charCodeAt(i + 2) : 0
    if (a > 255 || b > 255 || c > 255) {
      throw new DOMException('btoa takes characters up to U+00FF only', 'InvalidCharacterError')
    }
    out += alphabet.charAt(a >> 2) + alphabet.charAt(((a & 3) << 4) | (b >> 4))
    out += left > 1 ? alphabet.charAt(((b & 15) << 2) | (c >> 6)) : '='
    out += left > 2 ? alphabet.charAt(c & 63) : '='
  }
  return out
}

/** Infra standard, "forgiving-base64 decode". Throws InvalidCharacterError where the text is not base64. */
export function atob(data: string): string {
  let text = `${data}`.replace(/[\t\n\f\r ]/g, '')
  if (text.length % 4 === 0) text = text.replace(/={1,2}$/, '')
  if (text.length % 4 === 1) throw invalid()
  let out = ''
  let bits = 0
  let held = 0
  for (let i = 0; i < text.length; i++) {
    const value = sextets[text.charCodeAt(i)] ?? -1
    if (value < 0) throw invalid()
    held = ((held << 6) | value) & 0xffffff
    bits += 6
    if (bits < 8) continue
    bits -= 8
    out += String.fromCharCode((held >> bits) & 255)
  }
  return out
}

const invalid = () => new DOMException('The text given to atob is not base64', 'InvalidCharacterError')
