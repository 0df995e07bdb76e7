import { createHmac, timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../access/secret-box.ts'
import { isJsonObject } from '../assert-json.ts'

export type PictureKeys = {
  /** Where a page reads each picture of a tree, by the address that the tree names. */
  addressesIn: (element: unknown, of: Owner) => Record<string, string>
  /** True for the key of an address that a tree had, for a day or two. */
  isKey: (key: string, asked: Asked) => boolean
}

type Asked = { installationId: string; address: string; until: number }
type Owner = { integration: string; installationId: string }

const maxPictures = 100
const maxAddress = 2_000
const daySeconds = 24 * 60 * 60

/**
 * Signs the addresses of pictures in element trees. A page sends no token for a picture.
 *
 * Attack: without a key the route would fetch any address for anyone.
 */
export function createPictureKeys(box: Pick<SecretBox, 'deriveKey'>): PictureKeys {
  const secret = box.deriveKey('addresses of pictures')
  const keyOf = ({ installationId, address, until }: Asked) =>
    createHmac('sha256', secret)
      .update(JSON.stringify([installationId, address, until]))
      .digest('base64url')
  return {
    addressesIn(element, { integration, installationId }) {
      // The same for a whole day: browsers keep the picture.
      const until = (Math.ceil(Date.now() / 1000 / daySeconds) + 1) * daySeconds
      const path = `/v1/integrations/${integration}/installations/${installationId}/picture`
      const signed = [...picturesOf(element)].map((address) => {
        const key = keyOf({ installationId, address, until })
        return [address, `${path}?${new URLSearchParams({ address, until: String(until), key })}`]
      })
      return Object.fromEntries(signed)
    },
    isKey(key, asked) {
      const [given, known] = [Buffer.from(key), Buffer.from(keyOf(asked))]
      return given.length === known.length && timingSafeEqual(given, known) && asked.until > Date.now() / 1000
    },
  }
}

/** The addresses of all `image` elements. One with a reference to the state is not known here. */
function picturesOf(tree: unknown, found = new Set<string>()): Set<string> {
  if (typeof tree !== 'object' || tree === null || found.size >= maxPictures) return found
  if (isJsonObject(tree) && tree.type === 'image' && isJsonObject(tree.source)) {
    const { url } = tree.source
    if (typeof url === 'string' && url.length <= maxAddress && isHttp(url)) found.add(url)
  }
  for (const value of Object.values(tree)) picturesOf(value, found)
  return found
}

const isHttp = (url: string): boolean => /^https?:$/.test(URL.parse(url)?.protocol ?? '')
