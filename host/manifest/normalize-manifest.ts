import type { Category, ExternalLink, Manifest } from '../../schemas/generated/manifest.ts'
import { type Directives, parseContentSecurityPolicy } from './checks/content-security-policy.ts'

/** A manifest with one way to say each thing, and every list there. */
export type NormalManifest = Omit<Manifest, 'categories' | 'contentSecurityPolicy'> & {
  categories: Exclude<Category, 'visitor-auth'>[]
  contentSecurityPolicy: Directives
  externalLinks: ExternalLink[]
  blocks: NonNullable<Manifest['blocks']>
  previewImages: NonNullable<Manifest['previewImages']>
  target: NonNullable<Manifest['target']>
}

/** Brings a checked manifest into its normal form. Its name keeps the author's upper and lower case. */
export function normalizeManifest(manifest: Manifest): NormalManifest {
  const categories = (manifest.categories ?? []).map((category) =>
    category === 'visitor-auth' ? 'authenticated-access' : category,
  )
  return {
    ...manifest,
    categories: [...new Set(categories)],
    contentSecurityPolicy: parseContentSecurityPolicy(manifest.contentSecurityPolicy ?? {}),
    externalLinks: manifest.externalLinks ?? [],
    blocks: manifest.blocks ?? [],
    previewImages: manifest.previewImages ?? [],
    target: manifest.target ?? 'all',
  }
}
