import { createHmac, timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../access/secret-box.ts'

export type PictureKeys = {
  /** Where a page reads each picture, by its address. Addresses that are not of http or https are left out. */
  sign: (route: string, addresses: Iterable<string>) => Record<string, string>
  /** True for the key of a signed address, for a day or two. */
  isKey: (key: string, asked: Asked) => boolean
}

/** `route`: the path that fetches the picture. It says for whom, and so within which limits. */
type Asked = { route: string; address: string; until: number }

/** A picture of what a script of the installation shows. */
export const pictureRouteOf = (of: { integration: string; installation: string }): string =>
  `/v1/integrations/${of.integration}/installations/${of.installation}/picture`

/** A picture of what people write in a space. */
export const pictureRouteOfSpace = (space: string): string => `/v1/spaces/${space}/picture`

const maxPictures = 100
const maxAddress = 2_000
const daySeconds = 24 * 60 * 60

/**
 * Signs the addresses of pictures. A page sends no token for a picture.
 *
 * Attack: without a key the routes would fetch any address for anyone.
 */
export function createPictureKeys(box: Pick<SecretBox, 'deriveKey'>): PictureKeys {
  const secret = box.deriveKey('addresses of pictures')
  const keyOf = ({ route, address, until }: Asked) =>
    createHmac('sha256', secret)
      .update(JSON.stringify([route, address, until]))
      .digest('base64url')
  return {
    sign(route, addresses) {
      // The same for a whole day: browsers keep the picture.
      const until = (Math.ceil(Date.now() / 1000 / daySeconds) + 1) * daySeconds
      const fetched = [...new Set(addresses)].filter(isFetched).slice(0, maxPictures)
      const signed = fetched.map((address) => {
        const key = keyOf({ route, address, until })
        return [address, `${route}?${new URLSearchParams({ address, until: String(until), key })}`]
      })
      return Object.fromEntries(signed)
    },
    isKey(key, asked) {
      const [given, known] = [Buffer.from(key), Buffer.from(keyOf(asked))]
      return given.length === known.length && timingSafeEqual(given, known) && asked.until > Date.now() / 1000
    },
  }
}

const isFetched = (address: string): boolean =>
  address.length <= maxAddress && /^https?:$/.test(URL.parse(address)?.protocol ?? '')
