import type { Category, ExternalLink, Manifest } from '../../schemas/generated/manifest.ts'
import { type Directives, parseContentSecurityPolicy } from './checks/content-security-policy.ts'

/** A manifest in its normal form: one spelling for each value, and no list missing. */
export type NormalManifest = Omit<Manifest, 'categories' | 'contentSecurityPolicy'> & {
  categories: Exclude<Category, 'visitor-auth'>[]
  contentSecurityPolicy: Directives
  externalLinks: ExternalLink[]
  blocks: NonNullable<Manifest['blocks']>
  previewImages: NonNullable<Manifest['previewImages']>
  target: NonNullable<Manifest['target']>
}

/** The normal form of a valid manifest. The name keeps its upper and lower case. */
export function normalizeManifest(manifest: Manifest): NormalManifest {
  const categories = (manifest.categories ?? []).map(toCategory)
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

/** One of the two names of a category. */
export const toCategory = (category: Category): NormalManifest['categories'][number] =>
  category === 'visitor-auth' ? 'authenticated-access' : category
