import { type ComponentChildren, toChildArray, type VNode } from 'preact'

type Route = { path?: string; component?: { load?: () => Promise<unknown> } }

/** The pages that people open most, from any other. */
const common = ['/orgs/acme/installations', '/orgs/acme/deliveries']

/**
 * Loads the files of a page when a person points at a link to it, or reaches the link by the keyboard: they are there at the
 * click. A file that does not come is asked for again by the click.
 *
 * @returns a function that loads those of the commonest pages once the browser has nothing else to do
 */
export function preloadPages(routes: ComponentChildren): () => void {
  const known = toChildArray(routes).flatMap((route) => {
    const { path, component } = (route as VNode<Route>).props ?? {}
    return path && component?.load ? [{ pattern: toPattern(path), load: component.load }] : []
  })
  const preload = (path: string) => {
    known
      .find(({ pattern }) => pattern.test(path))
      ?.load()
      .catch(() => {})
  }
  const follow = ({ target }: Event) => {
    const link = target instanceof Element ? target.closest('a') : null
    if (link?.origin === location.origin) preload(link.pathname)
  }
  // Beside the first request, which asks who the person is.
  preload(location.pathname)
  document.addEventListener('pointerover', follow, { passive: true })
  document.addEventListener('focusin', follow)
  // Safari has no requestIdleCallback.
  const whenIdle = globalThis.requestIdleCallback ?? ((act: () => void) => setTimeout(act, 1_000))
  return () => whenIdle(() => common.forEach(preload))
}

/** `/orgs/:org/sites/:site/:rest*` as a pattern. */
const toPattern = (path: string): RegExp =>
  new RegExp(`^${path.replace(/\/:\w+\*/g, '(?:/.*)?').replace(/:\w+/g, '[^/]+')}/?$`)
