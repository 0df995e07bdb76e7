import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseHTML } from 'linkedom'
import { loadApi } from '../../schemas/api.ts'

describe('the page that `make docs` writes', () => {
  const { document: api, operations } = loadApi()
  let page: ReturnType<typeof parseHTML>['document']
  let text: string
  let byId: Map<string, ReturnType<typeof page.querySelectorAll>[number][]>
  before(() => {
    const script = fileURLToPath(new URL('../../docs/generate/write-docs.ts', import.meta.url))
    const printed = execFileSync(process.execPath, [script], { encoding: 'utf8' })
    text = readFileSync(fileURLToPath(printed.trim()), 'utf8')
    page = parseHTML(text).document
    byId = Map.groupBy([...page.querySelectorAll('[id]')], ({ id }) => id)
  })

  it('has each operation and record once, with its text', () => {
    for (const { id, method, path, summary, description } of operations) {
      const [found, ...more] = byId.get(id) ?? []
      assert.equal(more.length, 0, id)
      const content = found?.textContent ?? ''
      for (const part of [method, path]) assert.ok(content.includes(part), `${id}: ${part}`)
      const article = found?.closest('article')?.textContent ?? ''
      // Code spans lose their marks.
      for (const part of description.split('`')) assert.ok(article.includes(part), `${id}: ${part}`)
      if (found?.tagName === 'ARTICLE') assert.ok(article.includes(summary), id)
    }
    for (const name of Object.keys(api.components.schemas ?? {})) {
      assert.equal(byId.get(`record-${name}`)?.length, 1, name)
    }
  })

  it('has only working links, and needs no other file', () => {
    const links = [...page.querySelectorAll('[href], [src]')].map((element) => element.getAttribute('href'))
    assert.ok(links.length > operations.length)
    for (const link of links) assert.ok(link?.startsWith('#') && byId.has(link.slice(1)), `${link}`)
    assert.doesNotMatch(text, /<script|url\(|@import/)
  })
})
