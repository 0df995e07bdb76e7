import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hasTypedHost, isTypedHost } from '../../host/installations/typed-hosts.ts'
import type { Configurations } from '../../schemas/generated/manifest.ts'

const text = { type: 'string', title: 'Title', description: 'Text' } as const
const settings: Configurations = {
  site: { properties: { hook: text, choice: { ...text, completion_url: '/choices' } } },
}
const typed = { hook: { typed: true }, choice: { typed: true }, gone: { typed: true } } as const

const isAllowed = (value: unknown, url: string): boolean =>
  isTypedHost(settings, 'site', 'hook', value) &&
  hasTypedHost(
    settings,
    { kind: 'site', configuration: { hook: value }, settingDetails: typed },
    new URL(url),
  )

const same: [value: string, url: string][] = [
  ['https://hooks.example.com/in?key=1', 'https://hooks.example.com/other'],
  ['https://hooks.example.com/in', 'http://hooks.example.com/'],
  ['HTTPS://Hooks.Example.COM/in', 'https://hooks.example.com/'],
  ['https://hooks.example.com/in', 'https://HOOKS.example.com./'],
  ['https://hooks.example.com./in', 'https://hooks.example.com/'],
  ['  https://hooks.example.com/in\n', 'https://hooks.example.com/'],
  ['https://hooks.example.com:8443/in', 'https://hooks.example.com:8443/'],
  ['http://hooks.example.com:80/in', 'http://hooks.example.com/'],
  ['https://bücher.example/in', 'https://xn--bcher-kva.example/'],
  ['https://xn--bcher-kva.example/in', 'https://BÜCHER.example/'],
  ['https://[2001:db8::1]/in', 'https://[2001:0db8:0:0::1]/'],
  ['https://192.0.2.1/in', 'https://0xc0.0.2.1/'],
  ['hooks.example.com', 'https://hooks.example.com/'],
  ['Hooks.example.com.', 'http://hooks.example.com/'],
  ['hooks.example.com:8443', 'https://hooks.example.com:8443/'],
  ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443/'],
  ['192.0.2.1', 'http://192.0.2.1/'],
]

const other: [value: unknown, url: string][] = [
  ['https://hooks.example.com/in', 'https://hooks.example.com:8443/'],
  ['https://hooks.example.com:8443/in', 'https://hooks.example.com/'],
  ['https://hooks.example.com/in', 'https://a.hooks.example.com/'],
  ['https://hooks.example.com/in', 'https://example.com/'],
  ['https://hooks.example.com/in', 'https://hooks.example.com.evil.example/'],
  ['https://[2001:db8::1]/in', 'https://[2001:db8::2]/'],
  ['https://*.example.com/', 'https://a.example.com/'],
  ['*.example.com', 'https://a.example.com/'],
  ['Send to https://evil.example/ please', 'https://evil.example/'],
  ['https://good.example/ and https://evil.example/', 'https://evil.example/'],
  ['https://good.example/ and https://evil.example/', 'https://good.example/'],
  ['https://good.example/?to=https://evil.example/', 'https://evil.example/'],
  ['https://good.example@evil.example/', 'https://evil.example/'],
  ['https://good.example:x@evil.example/', 'https://evil.example/'],
  ['https:\\\\evil.example\\', 'https://evil.example/'],
  ['https:evil.example', 'https://evil.example/'],
  ['//evil.example/', 'https://evil.example/'],
  ['ftp://evil.example/', 'https://evil.example/'],
  ['a@evil.example', 'https://evil.example/'],
  ['evil.example/in', 'https://evil.example/'],
  ['evil%2eexample', 'https://evil.example/'],
  ['evil', 'https://evil/'],
  ['3.10', 'http://3.0.0.10/'],
  ['2130706433', 'http://127.0.0.1/'],
  ['0x7f.1', 'http://127.0.0.1/'],
  ['', 'https://evil.example/'],
  [{ href: 'https://evil.example/' }, 'https://evil.example/'],
  [['https://evil.example/'], 'https://evil.example/'],
]

describe('a host that a person typed', () => {
  it('is the host of a whole address or a bare host, in any spelling', () => {
    for (const [value, url] of same) assert.equal(isAllowed(value, url), true, `${value} ${url}`)
  })

  it('is no other host, port or longer text', () => {
    for (const [value, url] of other) assert.equal(isAllowed(value, url), false, `${value} ${url}`)
  })

  it('counts for a declared text with its mark, unless a script offers choices', () => {
    const url = 'https://hooks.example.com/'
    const stored = {
      kind: 'site' as const,
      configuration: { hook: url, choice: url, gone: url },
      settingDetails: typed,
    }
    const has = (...names: string[]) => {
      const settingDetails = Object.fromEntries(names.map((name) => [name, { typed: true as const }]))
      return hasTypedHost(settings, { ...stored, settingDetails }, new URL(url))
    }
    assert.deepEqual([has('hook'), has(), has('choice'), has('gone')], [true, false, false, false])
    assert.equal(hasTypedHost(settings, { ...stored, kind: 'space' }, new URL(url)), false)
    assert.equal(hasTypedHost(undefined, stored, new URL(url)), false)
    assert.equal(isTypedHost(settings, 'site', 'choice', url), false)
    assert.equal(isTypedHost(settings, 'site', 'constructor', url), false)
  })
})
