import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, startAnnex } from '../support/annex.ts'

const menu = `
import { createContentSource, createIntegration } from '@annex/runtime'
const menu = createContentSource({
  sourceId: 'menu',
  getRevision: ({ props, dependencies }, { environment }) => {
    if (props.courses === undefined) throw new Error('no courses')
    return { pages: props.courses, from: dependencies.spec, at: environment.spaceInstallation?.space }
  },
  getPageDocument: ({ props }) => props.course && { nodes: [props.course] },
})
const flat = createContentSource({ sourceId: 'flat', getRevision: () => ['a', 'list'] })
export default createIntegration({ contentSources: [menu, flat] })`

describe('a content source', () => {
  let annex: Annex
  let inSpace: string
  let account: string
  before(async () => {
    annex = await startAnnex({ plugins: { menu: { script: menu } } })
    const { path, id } = await installSample(annex, 'menu', 'space')
    inSpace = path
    account = `/v1/integrations/menu/installations/${id}`
  })
  after(() => annex.close())

  const compute = (source: string, part: string, body: object = {}, of = inSpace) =>
    annex.api('POST', `${of}/content-sources/${source}/${part}`, body)

  it('computes a revision from properties and dependencies', async () => {
    const given = { props: { courses: ['soup'] }, dependencies: { spec: { value: 1 } } }
    const { status, json } = await compute('menu', 'revision', given)
    assert.equal(status, 200)
    assert.deepEqual(json, { pages: ['soup'], from: { value: 1 }, at: annex.server.samples.space })
    assert.equal((await compute('menu', 'revision', given, account)).json.at, undefined)
  })

  it('computes the document of a page, or null', async () => {
    const { json } = await compute('menu', 'document', { props: { course: 'soup' } })
    assert.deepEqual(json, { document: { nodes: ['soup'] } })
    assert.deepEqual((await compute('menu', 'document')).json, { document: null })
  })

  it('is a 404 for an unknown name, and without documents', async () => {
    assert.equal((await compute('other', 'revision')).status, 404)
    assert.equal((await compute('flat', 'document')).status, 404)
  })

  it('that fails, or returns no object, is a 500 with a log line', async () => {
    for (const source of ['menu', 'flat']) {
      const { status, json } = await compute(source, 'revision')
      assert.deepEqual([status, json.error.code], [500, 'script_failed'])
      const { json: log } = await annex.api('GET', `/v1/logs?request=${json.error.requestId}`)
      assert.equal(log.items.length, 1)
    }
  })
})
