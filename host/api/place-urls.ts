import type { PlaceKind } from '../db/queries/installations.ts'

/**
 * Where people see a site or space: in Annex, and where it is published. Scripts of the reference platform read `public` too,
 * and append a page's path to each address.
 */
export function toPlaceUrls(
  publicUrl: string,
  kind: PlaceKind,
  { id, organizationId }: { id: string; organizationId: string },
  published: string | null | undefined,
): { app: string; published?: string; public?: string } {
  const app = `${publicUrl}/orgs/${organizationId}/${kind}s/${id}/`
  if (!published) return { app }
  const url = published.replace(/\/*$/, '/')
  return { app, published: url, public: url }
}
