import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { idsOfFixes, toProblems } from '../../host/console/app/sort-problems.ts'
import { loadApi } from '../../schemas/api.ts'
import type { Problem } from '../../schemas/generated/api/problems.ts'

function problem(organization: string | null, organizationSubdomain: string | null): Problem {
  return {
    ...{ object: 'problem', kind: 'receiver', organization, organizationSubdomain },
    subject: { kind: 'receiver', id: 'rcv_1' },
    ...{ sentence: 'It is disabled.', since: '2026-01-01T00:00:00.000Z' },
    fix: { text: 'Resume it.', command: null, operation: null },
  }
}

describe('the problems of a page', () => {
  const all = [
    problem('org_1', 'acme'),
    problem('org_2', 'other'),
    problem('org_2', 'other'),
    problem(null, null),
  ]

  it('are those of the organization, by its id or subdomain, and those of the host', () => {
    for (const name of ['acme', 'org_1']) {
      const { here, elsewhere } = toProblems(name, all)
      assert.deepEqual(here, [all[0], all[3]])
      assert.deepEqual([...elsewhere], [['other', 2]])
    }
    assert.deepEqual(toProblems('none', []).here, [])
  })

  it('are mended by operations whose role the console knows', () => {
    const operations = new Map(loadApi().operations.map(({ id, method, path }) => [`${method} ${path}`, id]))
    for (const [address, id] of Object.entries(idsOfFixes)) assert.equal(operations.get(address), id)
    const text = readFileSync(new URL('../../host/api/problems.ts', import.meta.url), 'utf8')
    const used = [...text.matchAll(/address:\s*'([A-Z]+ [^']+)'/g)].map(([, address]) => address)
    assert.ok(used.length >= 5)
    assert.deepEqual(new Set(used), new Set(Object.keys(idsOfFixes)))
  })
})
