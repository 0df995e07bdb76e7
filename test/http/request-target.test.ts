import assert from 'node:assert/strict'
import { it } from 'node:test'
import { splitRequestTarget } from '../../host/http/request-target.ts'

it('a request target is split, and its parts stay unchanged', () => {
  for (const [url, path, search] of [
    ['/', '/', ''],
    ['/x/echo/%2e%2E/a?b=/c?d', '/x/echo/%2e%2E/a', '?b=/c?d'],
    ['/x/echo/../other', '/x/echo/../other', ''],
    ['//host/x/echo', '//host/x/echo', ''],
    ['/x/echo?a#b?c', '/x/echo', '?a'],
    ['/x/echo#b?c', '/x/echo', ''],
    ['http://elsewhere:80/x/echo/../other?a', '/x/echo/../other', '?a'],
    ['HTTPS://elsewhere/x/echo', '/x/echo', ''],
    ['http://elsewhere?a', '', '?a'],
    ['*', '*', ''],
    ['', '', ''],
  ] as const) {
    assert.deepEqual(splitRequestTarget(url), { path, search }, url)
  }
})
