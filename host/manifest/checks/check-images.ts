import { imageDimensionsFromData } from 'image-dimensions'
import type { Manifest } from '../../../schemas/generated/manifest.ts'
import { quoteValue } from '../message-text.ts'
import type { Finding } from '../problem.ts'
import { type OwnFiles, readInside } from '../read-inside.ts'
import type { ReadOptions } from '../read-options.ts'

const maxImageBytes = 5 * 1024 * 1024
const previewRatio = 2
const ratioTolerance = 0.01

/** Images that all browsers show. SVG is left out: it is a document and can contain scripts. */
const shownTypes: ReadonlySet<string> = new Set(['png', 'jpeg', 'gif', 'webp', 'avif'])

/** Icons and preview images exist within the folder and are images. A preview other than 2:1 is a warning. */
export async function checkImages(
  folder: string,
  manifest: Partial<Manifest>,
  { ownFiles }: Pick<ReadOptions, 'ownFiles'>,
): Promise<Finding[]> {
  const images: { pointer: string; path: string; preview?: boolean }[] = []
  if (manifest.icon !== undefined) images.push({ pointer: '/icon', path: manifest.icon })
  manifest.previewImages?.forEach((path, index) => {
    images.push({ pointer: `/previewImages/${index}`, path, preview: true })
  })
  for (const list of ['blocks', 'contentSources'] as const) {
    manifest[list]?.forEach((entry, index) => {
      if (entry.icon !== undefined) images.push({ pointer: `/${list}/${index}/icon`, path: entry.icon })
    })
  }
  const findings: Finding[] = []
  for (const { pointer, path, preview = false } of images) {
    const complaint = await checkImage(folder, path, preview, ownFiles)
    if (complaint !== undefined) findings.push({ pointer, at: 'value', ...complaint })
  }
  return findings
}

async function checkImage(
  folder: string,
  path: string,
  preview: boolean,
  ownFiles: OwnFiles | undefined,
): Promise<Omit<Finding, 'pointer' | 'at'> | undefined> {
  const reading = await readInside(folder, path, maxImageBytes, ownFiles)
  if ('problem' in reading) return { message: `the image ${quoteValue(path)} ${reading.problem}` }
  const size = measure(reading.bytes)
  if (size === undefined || !shownTypes.has(size.type)) {
    return {
      message: `the file ${quoteValue(path)} is not an image that can be shown`,
      hint: `allowed: ${[...shownTypes].join(', ')}`,
    }
  }
  const ratio = size.width / size.height
  if (!preview || Math.abs(ratio - previewRatio) <= previewRatio * ratioTolerance) return undefined
  return {
    severity: 'warning',
    message: `the preview image ${quoteValue(path)} is ${size.width} x ${size.height} px, which is not 2:1`,
    hint: 'recommended: 1600 x 800 px',
  }
}

/** Type and size by the bytes; the file's name does not count. `undefined` for other files. */
function measure(bytes: Uint8Array): { width: number; height: number; type: string } | undefined {
  try {
    const size = imageDimensionsFromData(bytes)
    return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
  } catch {
    return undefined
  }
}
