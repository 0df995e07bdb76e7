import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { describeLimits } from '../../host/manifest/describe-limits.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'

const manifest = (given: Partial<Manifest>): Manifest => ({
  name: 'one',
  title: 'One',
  description: 'One.',
  organization: 'home',
  visibility: 'public',
  scopes: [],
  script: './index.ts',
  ...given,
})
const typed: Partial<Manifest> = {
  configurations: { site: { properties: { url: { type: 'string', title: 'URL' } } } },
}
const always = [
  'Reach sites and spaces in which it is not installed.',
  'Reach an organization that has not installed it.',
  'See members and tokens of the organization, or settings of other integrations.',
]
const injection = 'Run JavaScript in the pages of a site.'
const reading = 'Read the content of a space.'
const visits = 'Learn of the visits of a site.'
const writing = 'Change the content of a space.'

describe('the limits of an integration', () => {
  const cases: [name: string, given: Partial<Manifest>, limits: string[]][] = [
    ['without scopes, with any host', {}, [injection, reading, visits, writing]],
    ['with all hosts named', { egress: ['*'] }, [injection, reading, visits, writing]],
    [
      'with one host',
      { egress: ['api.example.com'] },
      [injection, reading, visits, 'Send data to a host that its permissions do not name.', writing],
    ],
    ['with no host', { egress: [] }, [injection, reading, visits, 'Send data to another host.', writing]],
    [
      'with hosts of its settings',
      { egress: [], ...typed },
      [
        injection,
        reading,
        visits,
        'Send data to a host that neither its permissions nor its settings name.',
        writing,
      ],
    ],
    ['that reads content', { scopes: ['space:content:read'] }, [injection, visits, writing]],
    ['that writes content', { scopes: ['space:content:write'] }, [injection, visits]],
    ['that reads visits', { scopes: ['site:views:read'] }, [injection, reading, writing]],
    ['that reads feedback', { scopes: ['page:feedback:read'] }, [injection, reading, writing]],
    ['that signs visitors in', { scopes: ['site:visitor:auth'] }, [injection, reading, writing]],
    // Its script in a page reads the page and its visitors, and sends what it reads anywhere.
    ['that injects scripts', { scopes: ['site:script:inject'], egress: [] }, [writing]],
  ]
  for (const [name, given, limits] of cases)
    it(`are true of one ${name}`, () => {
      assert.deepEqual(describeLimits(manifest(given)), [...always, ...limits])
    })

  it('say of one without a script that it sends nothing', () => {
    const { script: _, ...bare } = manifest({})
    assert.ok(describeLimits(bare).includes('Send data anywhere: it has no script.'))
  })
})
