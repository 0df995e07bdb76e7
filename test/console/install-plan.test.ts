import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readChoices, readStep, toQuery } from '../../host/console/app/pages/install/choices.ts'
import { describePlan, describeStep, describeWhere } from '../../host/console/app/pages/install/describe.ts'
import {
  type Found,
  findMissing,
  planOf,
  type Step,
  toOperation,
} from '../../host/console/app/pages/install/plan.ts'

const sites = ['docs', 'blog', 'help'].map((slug) => ({ id: `site_${slug}`, slug, title: `The ${slug}` }))
const spaces = [{ id: 'space_book', slug: 'book', title: 'Book' }]

type Given = { own?: boolean; waiting?: number; all?: ('sites' | 'spaces')[]; in?: string[] }
function found({ own = false, waiting, all = [], in: ids = [] }: Given): Found {
  const selection = (list: 'sites' | 'spaces') => (all.includes(list) ? 'all' : 'selected')
  return {
    organization: { subdomain: 'acme', title: 'Acme' },
    // The plan reads neither settings nor addresses.
    integration: { version: { number: waiting ?? 1, digest: '' } } as Found['integration'],
    own: own
      ? ({
          installation: {
            id: 'inst_1',
            site_selection: selection('sites'),
            space_selection: selection('spaces'),
          },
          agreement: { waiting: waiting === undefined ? null : { version: waiting, permissions: [] } },
        } as unknown as Found['own'])
      : null,
    places: { sites, spaces },
    installed: { sites: new Set(ids), spaces: new Set(ids) },
  }
}

const short = (step: Step): string =>
  step.kind === 'place' ? step.place.slug : step.kind === 'all' ? `all ${step.list}` : step.kind
const plan = (given: Given, query: Record<string, string>) =>
  planOf(found(given), readChoices(query)).map(short)

describe('what an installation needs', () => {
  const cases: [name: string, given: Given, query: Record<string, string>, steps: string[]][] = [
    ['for the organization alone', {}, {}, ['install']],
    ['for a site', {}, { sites: 'docs' }, ['install', 'docs']],
    [
      'for sites and a space',
      {},
      { sites: 'blog,docs', spaces: 'book' },
      ['install', 'docs', 'blog', 'book'],
    ],
    ['for all sites', {}, { all: 'sites' }, ['install', 'all sites']],
    ['for all sites and spaces', {}, { all: 'sites,spaces' }, ['install', 'all sites', 'all spaces']],
    [
      'for all sites, with one that was chosen before',
      {},
      { all: 'sites', sites: 'docs' },
      ['install', 'all sites'],
    ],
    ['for a place that is gone', {}, { sites: 'gone' }, ['install']],
    ['for a site that is named twice', {}, { sites: 'docs,docs,' }, ['install', 'docs']],
    ['when it is installed', { own: true }, {}, []],
    ['for a further site', { own: true, in: ['site_docs'] }, { sites: 'docs,blog' }, ['blog']],
    ['for all sites, where that is so already', { own: true, all: ['sites'] }, { all: 'sites' }, []],
    ['for a site of all that lost it', { own: true, all: ['sites'] }, { sites: 'docs' }, ['docs']],
    ['for a version that waits', { own: true, waiting: 2 }, {}, ['agree']],
    ['for a version that waits, and a site', { own: true, waiting: 2 }, { sites: 'docs' }, ['agree', 'docs']],
  ]
  for (const [name, given, query, steps] of cases)
    it(`${name}: ${steps.join(', ') || 'nothing'}`, () => {
      assert.deepEqual(plan(given, query), steps)
    })

  it('names the operation of each step', () => {
    const steps = planOf(found({}), readChoices({ sites: 'docs', all: 'spaces' }))
    assert.deepEqual(steps.map(toOperation), [
      'installIntegration',
      'installIntegrationOnSite',
      'selectPlaces',
    ])
    const space = planOf(found({ own: true, waiting: 2 }), readChoices({ spaces: 'book' }))
    assert.deepEqual(space.map(toOperation), ['agreeToVersion', 'installIntegrationOnSpace'])
  })

  it('is said in words', () => {
    const one = found({})
    const say = (query: Record<string, string>) => {
      const choices = readChoices(query)
      return [describeWhere(one, choices), describePlan(one, planOf(one, choices))]
    }
    assert.deepEqual(say({}), ['Acme alone, no site or space yet', 'Acme'])
    assert.deepEqual(say({ sites: 'docs' }), ['The docs', 'The docs'])
    assert.deepEqual(say({ sites: 'docs', spaces: 'book' }), ['The docs and Book', 'The docs and Book'])
    assert.deepEqual(say({ all: 'sites' }), ['All sites, and those to come', 'all sites'])
    const wide = {
      ...one,
      places: { sites: sites.map((site) => ({ ...site, title: 'x'.repeat(200) })), spaces: [] },
    }
    assert.equal(describeWhere(wide, readChoices({ sites: 'docs,blog' })), '2 sites')
    assert.equal(describeWhere(wide, readChoices({ sites: 'docs' })), '1 site')
    assert.deepEqual(
      planOf(one, readChoices({ sites: 'docs', all: 'spaces' })).map((step) => describeStep(one, step)),
      ['install in Acme', 'install in The docs', 'install in all spaces'],
    )
  })
})

describe('the address of an installation', () => {
  it('has the choices, the step and the key of a link', () => {
    const query = { installKey: 'annex_link_a', sites: 'docs' }
    assert.equal(toQuery(query, { sites: ['docs', 'blog'] }), 'installKey=annex_link_a&sites=docs,blog')
    assert.equal(toQuery(query, { step: 'agree' }), 'installKey=annex_link_a&sites=docs&step=agree')
    assert.equal(toQuery(query, { sites: [] }), 'installKey=annex_link_a')
    assert.equal(toQuery({}, { all: ['sites'] }), 'all=sites')
  })

  it('is read back as it was written', () => {
    const choices = { sites: ['docs', 'blog'], spaces: ['book'], all: ['spaces' as const] }
    const query = Object.fromEntries(new URLSearchParams(toQuery({}, { ...choices, step: 'agree' })))
    assert.deepEqual([readChoices(query), readStep(query)], [choices, 'agree'])
  })

  it('of another hand is no error', () => {
    assert.equal(readStep({ step: 'none' }), 'where')
    assert.deepEqual(readChoices({ all: 'everything,sites', sites: ',,' }), {
      sites: [],
      spaces: [],
      all: ['sites'],
    })
    assert.deepEqual(findMissing({ sites, spaces }, readChoices({ sites: 'gone,docs', spaces: 'x' })), [
      'gone',
      'x',
    ])
  })
})
