import { hash } from 'node:crypto'
import { posix } from 'node:path'
import { imageDimensionsFromData } from 'image-dimensions'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import { type OwnFiles, readInside } from './read-inside.ts'
import { listSummaryPictures } from './summary-pictures.ts'

/** An image that a manifest names. `path`: as the manifest has it; `pointer`: where. */
type NamedImage = { pointer: string; path: string; kind: 'icon' | 'preview' | 'summary' }

/** `name`: the path below `urls.assets`. */
type ReadImage = { name: string; type: string; bytes: Buffer; width: number; height: number }

/** An image that is stored with a version. `digest`: SHA-256 of its bytes, in hex. */
export type Image = Pick<ReadImage, 'name' | 'type' | 'bytes'> & { digest: string }

const maxImageBytes = 5 * 1024 * 1024
/** Of one integration: each version stores its images. */
export const maxBytesOfImages = 20 * 1024 * 1024

/** Images that all browsers show. SVG is left out: it is a document and can contain scripts. */
const shownTypes: ReadonlySet<string> = new Set(['png', 'jpeg', 'gif', 'webp', 'avif'])

/** All images that a manifest names. */
export function listImages(manifest: Partial<Manifest>): NamedImage[] {
  const images: NamedImage[] = []
  if (manifest.icon !== undefined) images.push({ pointer: '/icon', path: manifest.icon, kind: 'icon' })
  manifest.previewImages?.forEach((path, index) => {
    images.push({ pointer: `/previewImages/${index}`, path, kind: 'preview' })
  })
  for (const list of ['blocks', 'contentSources'] as const) {
    manifest[list]?.forEach(({ icon }, index) => {
      if (icon !== undefined) images.push({ pointer: `/${list}/${index}/icon`, path: icon, kind: 'icon' })
    })
  }
  for (const path of listSummaryPictures(manifest.summary ?? '')) {
    images.push({ pointer: '/summary', path, kind: 'summary' })
  }
  return images
}

/** Reads an image by a hostile path. Its bytes say what it is; its name does not count. */
export async function readImage(
  folder: string,
  path: string,
  ownFiles: OwnFiles | undefined,
): Promise<ReadImage | { problem: string; hint?: string }> {
  const reading = await readInside(folder, path, maxImageBytes, ownFiles)
  if ('problem' in reading) return reading
  const size = measure(reading.bytes)
  if (size !== undefined && shownTypes.has(size.type)) {
    return { ...size, name: toAssetName(path), bytes: reading.bytes }
  }
  return { problem: 'is not an image that can be shown', hint: `allowed: ${[...shownTypes].join(', ')}` }
}

/** The images to store with a version. One that has become unreadable since the check is left out. */
export async function readImages(
  folder: string,
  manifest: Partial<Manifest>,
  ownFiles: OwnFiles | undefined,
): Promise<Image[]> {
  const images = new Map<string, Image>()
  for (const { path } of listImages(manifest)) {
    const image = await readImage(folder, path, ownFiles)
    if ('problem' in image) continue
    const { name, type, bytes } = image
    images.set(name, { name, type, bytes, digest: hash('sha256', bytes) })
  }
  return [...images.values()]
}

/**
 * The address below which an integration's images are.
 *
 * @param key only readers of the integration know it. The addresses of a public integration have none
 */
export function assetsOf(
  { name, visibility = 'private' }: Pick<Manifest, 'name' | 'visibility'>,
  publicUrl: string,
  key: string,
): string {
  const assets = `${publicUrl}/v1/integrations/${name}/assets`
  return visibility === 'public' ? assets : `${assets}/~${key}`
}

/** The address of an image that the manifest names. */
export function toAssetUrl(assets: string, path: string): string {
  return `${assets}/${toAssetName(path).split('/').map(encodeURIComponent).join('/')}`
}

const toAssetName = (path: string): string => posix.normalize(path)

/** A picture of more would fill the memory of a browser. */
const maxPixels = 50_000_000

/** The type of a picture that a browser may show, by its bytes. */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  const size = measure(bytes)
  return size && shownTypes.has(size.type) && size.width * size.height <= maxPixels ? size.type : undefined
}

function measure(bytes: Uint8Array): { width: number; height: number; type: string } | undefined {
  try {
    const size = imageDimensionsFromData(bytes)
    return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
  } catch {
    return undefined
  }
}
