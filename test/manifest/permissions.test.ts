import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  describePermission,
  findUnagreed,
  type Permission,
  permissionsOf,
  scopesWithoutEffect,
} from '../../host/manifest/permissions.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import schema from '../../schemas/manifest.schema.json' with { type: 'json' }
import { createManifest } from '../bundle/plugin-folder.ts'

const text = { type: 'string', title: 'Title', description: 'Text' } as const
const choice = { ...text, completion_url: '/choices' } as const
const toggle = { ...text, type: 'boolean' } as const
const site = (properties: object) => ({ site: { properties } }) as Manifest['configurations']
const sentences = (manifest: Partial<Manifest>): string[] =>
  permissionsOf(createManifest({ scopes: [], ...manifest })).map(describePermission)

const typed = 'Send webhooks to the hosts of addresses that people type in its settings.'

describe('the sentences of a consent', () => {
  it('name webhooks to typed addresses beside the declared hosts', () => {
    const level = 'Ask for settings of each site.'
    for (const [manifest, expected] of [
      [{}, ['Send data to any public host.']],
      [{ configurations: site({ text }) }, ['Send data to any public host.', level]],
      [{ egress: ['a.example'] }, ['Send data to a.example.']],
      [{ egress: [], configurations: site({ text }) }, [typed, level]],
      [{ egress: ['a.example'], configurations: site({ text }) }, ['Send data to a.example.', typed, level]],
      [
        { egress: ['a.example'], configurations: site({ choice, toggle }) },
        ['Send data to a.example.', level],
      ],
    ] as const)
      assert.deepEqual(sentences(manifest as Partial<Manifest>), expected)
  })

  it('need no new agreement for webhooks to typed hosts, but for a new host', () => {
    const before: Permission[] = [{ kind: 'host', name: 'a.example' }]
    const wanted = (egress?: string[]) =>
      permissionsOf(createManifest({ scopes: [], configurations: site({ text }), ...(egress && { egress }) }))
    const level = { kind: 'level', name: 'site' }
    assert.deepEqual(findUnagreed(before, wanted(['a.example'])), [level])
    assert.deepEqual(findUnagreed(before, wanted([])), [level])
    assert.deepEqual(findUnagreed(before, wanted()), [{ kind: 'host', name: '*' }, level])
    assert.deepEqual(findUnagreed(permissionsOf(createManifest({ scopes: [] })), wanted(['a.example'])), [
      level,
    ])
  })

  it('mark a scope without an operation, event and dispatch as without effect', () => {
    const root = fileURLToPath(new URL('../..', import.meta.url))
    const files = globSync('{schemas/api/*.schema.json,schemas/events.ts,host/dispatches/*.ts}', {
      cwd: root,
    })
    const source = files.map((file) => readFileSync(root + file, 'utf8')).join()
    const scopes = schema.$defs.scope.enum as Manifest['scopes']
    assert.deepEqual(
      scopes.filter((scope) => !source.includes(scope)),
      scopes.filter((scope) => scopesWithoutEffect.has(scope)),
    )
    for (const scope of scopes) {
      const [sentence = ''] = sentences({ scopes: [scope] })
      assert.equal(sentence.endsWith(' (no effect yet).'), scopesWithoutEffect.has(scope), sentence)
    }
  })
})
