import type { Manifest } from '../../../schemas/generated/manifest.ts'
import { listImages, maxBytesOfImages, readImage } from '../images.ts'
import { quoteValue } from '../message-text.ts'
import type { Finding } from '../problem.ts'
import type { ReadOptions } from '../read-options.ts'

const previewRatio = 2
const ratioTolerance = 0.01

/**
 * Icons and preview images exist within the folder and are images. A preview other than 2:1 is a warning. So is a missing picture
 * of the summary, whose text stands in its place.
 */
export async function checkImages(
  folder: string,
  manifest: Partial<Manifest>,
  { ownFiles }: Pick<ReadOptions, 'ownFiles'>,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const bytesOf = new Map<string, number>()
  for (const { pointer, path, kind } of listImages(manifest)) {
    const image = await readImage(folder, path, ownFiles)
    if ('problem' in image) {
      const { problem, ...hint } = image
      // With a hint it is a file of another kind.
      const what = 'hint' in image ? 'file' : 'image'
      const message = `the ${what} ${quoteValue(path)} ${problem}`
      findings.push({
        pointer,
        at: 'value',
        message,
        ...(kind === 'summary' && { severity: 'warning' }),
        ...hint,
      })
      continue
    }
    bytesOf.set(image.name, image.bytes.length)
    const ratio = image.width / image.height
    if (kind !== 'preview' || Math.abs(ratio - previewRatio) <= previewRatio * ratioTolerance) continue
    findings.push({
      pointer,
      at: 'value',
      severity: 'warning',
      message: `the preview image ${quoteValue(path)} is ${image.width} x ${image.height} px, which is not 2:1`,
      hint: 'recommended: 1600 x 800 px',
    })
  }
  const total = [...bytesOf.values()].reduce((sum, bytes) => sum + bytes, 0)
  if (total > maxBytesOfImages) {
    const message = `all images together have ${total} bytes; they may have ${maxBytesOfImages}`
    findings.push({ pointer: '', at: 'value', message, hint: 'use smaller images' })
  }
  return findings
}
