import { normalize } from 'node:path'
import type { Bundle } from './bundle-script.ts'

/** A file that a script consists of. `path` is relative to the plugin folder. */
export type Source = { path: string; text: string }

/** The author's own sources in a bundle, the script first: those of packages and of the SDK are not. */
export function ownSourcesOf({ map }: Pick<Bundle, 'map'>, script: string): Source[] {
  const { sources, sourcesContent }: { sources: string[]; sourcesContent: string[] } = JSON.parse(map)
  // A manifest may say `./index.ts`.
  const first = normalize(script)
  return sources
    .map((path, n) => ({ path, text: sourcesContent[n] ?? '' }))
    .filter(({ path }) => !/(?:^|\/)node_modules\/|^[a-z-]+:|^@annex\//.test(path))
    .toSorted((one, other) => Number(other.path === first) - Number(one.path === first))
}
