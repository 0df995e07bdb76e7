import type { Case } from './list-cases.ts'
import { wptHost } from './wpt-folder.ts'

export const addressOf = ({ file }: Case): string =>
  `${/\.https\./.test(file) ? `https://${wptHost}:8443` : `http://${wptHost}:8000`}/${file}`

/**
 * What the tests suppose of their surroundings and a sandbox does not have: a location, and a base URL that relative
 * URLs are resolved against. The interfaces stay the isolate's own; only a relative text is made whole before it
 * reaches them.
 */
export const surroundings = (given: Case): string => {
  const href = `${addressOf(given)}${given.variant}`
  return `(() => {
  'use strict'
  const { URL, Request, Response, fetch } = globalThis
  const put = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
  const { hash, host, hostname, href, origin, pathname, port, protocol, search } = new URL(${JSON.stringify(href)})
  put('location', { hash, host, hostname, href, origin, pathname, port, protocol, search, toString: () => href })
  put('META_TITLE', ${JSON.stringify(given.title)})
  put('GLOBAL', { isWindow: () => false, isWorker: () => true, isShadowRealm: () => false })
  const whole = (input) => {
    if (typeof input === 'object' && input instanceof Request) return input
    const text = String(input)
    return URL.canParse(text) || !URL.canParse(text, href) ? text : new URL(text, href).href
  }
  put('Request', new Proxy(Request, {
    construct: (target, [input, ...rest], by) =>
      Reflect.construct(target, input === undefined ? [] : [whole(input), ...rest], by === globalThis.Request ? target : by),
  }))
  Object.defineProperty(Request.prototype, 'constructor', { value: globalThis.Request, writable: true, configurable: true })
  put('fetch', new Proxy(fetch, {
    apply(target, self, [input, ...rest]) {
      try {
        return Reflect.apply(target, self, [whole(input), ...rest])
      } catch (error) {
        return Promise.reject(error)
      }
    },
  }))
  const redirect = Response?.redirect
  Object.defineProperty(Response, 'redirect', { value: new Proxy(redirect, {
    apply: (target, self, [url, ...rest]) => Reflect.apply(target, self, [whole(url), ...rest]),
  }), writable: true, configurable: true, enumerable: true })
})()`
}

/**
 * What idlharness.js needs besides: to know a scope by its class, and `eval`, which a sandbox does not have, for the
 * objects that its tests name as text. Evaluated after the harness, which would take this for a worker's scope.
 */
export const idlSurroundings = `(() => {
  const { evaluate } = globalThis
  delete globalThis.evaluate
  globalThis.DedicatedWorkerGlobalScope = class { static [Symbol.hasInstance]() { return true } }
  globalThis.eval = (text) => {
    evaluate('globalThis.__value = (' + text + ')')
    const value = globalThis.__value
    delete globalThis.__value
    return value
  }
})()`

/** Evaluated after the harness: each result leaves as it comes, so that a test that hangs keeps the others'. */
export const reporting = `(() => {
  const report = globalThis.__report
  delete globalThis.__report
  const { stringify } = JSON
  // A worker's script ends with done(); until then nothing is complete.
  setup({ explicit_done: true })
  add_result_callback((test) => report(stringify({ name: test.name, status: test.status, message: test.message })))
  add_completion_callback((tests, status) => report(stringify({ harness: status.status, message: status.message })))
})()`
