import type { Middleware } from 'koa'
import { AnnexError, isAnnexError } from '../errors.ts'

/** How far the first load of plugin folders is; `undefined` after it. `names`: the integrations whose folders are loaded. */
export type FirstLoad = { loaded: number; total: number; names: ReadonlySet<string> }

/** How far a load is. `folders`: the paths of those that it loads now. */
export type FolderLoad = { loaded: number; total: number; folders: Set<string> }

const ofIntegration = /^\/(?:x|v1\/integrations)\/([^/]+)/
const codes: ReadonlySet<string> = new Set(['not_found', 'no_version'])

/**
 * While plugin folders load, an integration that is missing may be in a folder that is not loaded yet. A 404 would make
 * callers give up.
 *
 * @throws AnnexError `folders_loading` in the place of `not_found` and `no_version`
 */
export function answerWhileLoading(firstLoad: () => FirstLoad | undefined): Middleware {
  return async (context, next) => {
    const load = firstLoad()
    if (load === undefined) return next()
    try {
      return await next()
    } catch (error) {
      const [, name] = ofIntegration.exec(context.path) ?? []
      if (name === undefined || load.names.has(name) || !isAnnexError(error) || !codes.has(error.code))
        throw error
      throw new AnnexError(
        'folders_loading',
        `Annex is loading its plugin folders (${load.loaded} of ${load.total}), and ${name} is not loaded yet. Try again in some seconds.`,
        { cause: error },
      )
    }
  }
}
