import { createHmac, timingSafeEqual } from 'node:crypto'

/** Whether a receiver takes a request for signed. */
export type Reads = (header: string, body: string, secret: string) => boolean

/** Receivers as people write them to spec 5.1, which says "the parts that start with `v1=`" and not which of several. */
export const readingReceivers = {
  'takes the first part': (header, body, secret) => {
    const parts = header.split(',')
    const t = parts.find((part) => part.startsWith('t='))?.slice(2) ?? ''
    const v1 = parts.find((part) => part.startsWith('v1='))?.slice(3) ?? ''
    return isEqual(v1, expected(t, body, secret))
  },
  'takes the second part': (header, body, secret) => {
    const [t = '', v1 = ''] = header.split(',').map((part) => part.split('=')[1] ?? '')
    return isEqual(v1, expected(t, body, secret))
  },
  'takes the last part, by a map': (header, body, secret) => {
    const { t = '', v1 = '' } = Object.fromEntries(header.split(',').map((part) => part.split('=')))
    return isEqual(v1, expected(t, body, secret))
  },
  'takes any part': (header, body, secret) => {
    const parts = header.split(',')
    const t = parts.find((part) => part.startsWith('t='))?.slice(2) ?? ''
    return parts.some((part) => part.startsWith('v1=') && isEqual(part.slice(3), expected(t, body, secret)))
  },
} satisfies Record<string, Reads>

const expected = (t: string, body: string, secret: string): string =>
  createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')

const isEqual = (given: string, wanted: string): boolean =>
  given.length === wanted.length && timingSafeEqual(Buffer.from(given), Buffer.from(wanted))
