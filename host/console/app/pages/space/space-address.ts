/** A space in the console, and a part of it. Paths of pages have slashes. */
export const addressOf = (org: string, space: string, ...rest: string[]): string =>
  [
    '/orgs',
    ...[org, 'spaces', space, ...rest.flatMap((part) => part.split('/'))].map(encodeURIComponent),
  ].join('/')

/** What an address names below a space. */
export type SpacePart =
  | { kind: 'page'; path: string | undefined }
  | { kind: 'new' }
  | { kind: 'revisions' }
  | { kind: 'revision'; id: string }
  | { kind: 'unknown' }

export function parsePart(rest = ''): SpacePart {
  const [first, ...more] = rest.split('/').filter((part) => part !== '')
  const path = more.join('/')
  if (first === undefined || (first === 'pages' && path === '')) return { kind: 'page', path: undefined }
  if (first === 'pages') return { kind: 'page', path }
  if (first === 'new' && path === '') return { kind: 'new' }
  if (first === 'revisions') return path === '' ? { kind: 'revisions' } : { kind: 'revision', id: path }
  return { kind: 'unknown' }
}

/** Parameters of each operation of a space. An operator may see spaces of one slug in several organizations. */
export const inSpace = ({ org, space }: { org: string; space: string }) => ({
  params: { space },
  query: { organization: org },
})
