import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createRouter } from '../../host/api/router.ts'
import { createProgram } from '../../host/cli/create-program.ts'
import { settingsTable } from '../../host/config/settings-table.ts'
import { errorCodes } from '../../host/errors.ts'
import { loadApi } from '../../schemas/api.ts'
import manifestSchema from '../../schemas/manifest.schema.json' with { type: 'json' }
import { readDocuments } from './documents.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const all = readDocuments()
const matches = (pattern: RegExp) =>
  all.flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].map((match) => ({ file, found: match[1] ?? '' })),
  )

describe('names and links in the docs exist:', () => {
  it('make targets', () => {
    const targets = new Set([...read('Makefile').matchAll(/^([a-z]+):/gm)].map((match) => match[1]))
    const named = matches(/\bmake ([a-z]+)`/g)
    assert.ok(named.length > 5)
    for (const { file, found } of named) assert.ok(targets.has(found), `${file}: make ${found}`)
  })

  it('annex commands', () => {
    const commands = new Set(createProgram('0', process).commands.map((command) => command.name()))
    const named = matches(/npx annex ([a-z-]+)/g)
    assert.ok(named.length > 10)
    for (const { file, found } of named) assert.ok(commands.has(found), `${file}: annex ${found}`)
  })

  it('settings', () => {
    const named = matches(
      /`((?:SANDBOX|BUNDLE|METRICS|EGRESS|DELIVERY|PUBLIC|DATA|PLUGINS|OPERATOR|SECRET|DATABASE|BACKLOG|RETENTION|RATE|LOG)_[A-Z_]+)`/g,
    )
    for (const { file, found } of named) {
      // Of the tests, not of Annex.
      if (found === 'DATABASE_URL_TEST') continue
      assert.ok(found.endsWith('_FILE') || Object.hasOwn(settingsTable, found), `${file}: ${found}`)
    }
  })

  it('one entry for each error code', () => {
    const page = read('docs/errors.md')
    for (const code of [...Object.keys(errorCodes), 'script_error']) {
      assert.equal(page.split(`<a id="${code}"></a>`).length, 2, code)
    }
  })

  it('files that are linked or named by path', () => {
    for (const { file, text } of all) {
      for (const [, link = ''] of text.matchAll(/\]\(([^)#:]+)\)/g)) {
        assert.ok(existsSync(join(root, dirname(file), link)), `${file}: ${link}`)
      }
      for (const [, path = ''] of text.matchAll(/`((?:host|runtime|schemas|test)\/[\w./-]+\.[a-z]+)`/g)) {
        assert.ok(existsSync(join(root, path)), `${file}: ${path}`)
      }
    }
  })

  it('linked headings', () => {
    const slug = (heading: string) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-')
    const anchorsOf = (text: string) => [
      ...[...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => slug(heading)),
      ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id),
    ]
    let count = 0
    for (const { file, text } of all) {
      for (const [, path = '', anchor = ''] of text.matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)) {
        const page = path === '' ? text : read(join(dirname(file), path))
        assert.ok(anchorsOf(page).includes(anchor), `${file}: ${path}#${anchor}`)
        count += 1
      }
    }
    assert.ok(count > 10)
  })

  it('manifest fields', () => {
    const fields = new Set(Object.keys(manifestSchema.properties))
    const [, table = ''] = read('docs/plugins.md').split('## The manifest')
    for (const [, cell = ''] of (table.split('##')[0] ?? '').matchAll(/^\| (`.*?) \|/gm)) {
      for (const [, field = ''] of cell.matchAll(/`(\w+)`/g))
        assert.ok(fields.has(field), `docs/plugins.md: ${field}`)
    }
  })
})

describe('the document of the API', () => {
  it('has every route, and docs/api.md has its row with roles and scope', () => {
    const router = createRouter({} as Parameters<typeof createRouter>[0])
    const routes = router.stack
      .flatMap(({ methods, path }) => methods.map((method) => `${method} ${path}`))
      .filter((route) => !route.startsWith('HEAD '))
    const { operations } = loadApi()
    const described = operations.map(({ method, path }) => `${method} ${path}`)
    const toPath = (text: string) => text.replaceAll(/[:*](\w+)/g, '{$1}')
    assert.deepEqual(routes.map(toPath).toSorted(), described.toSorted())
    const rows = [...read('docs/api.md').matchAll(/^\| `([A-Z]+ \/\S*)` \| (.*) \| (.*) \| (.*) \|$/gm)]
    const expected = operations.map(({ method, path, summary, roles, scope }) => [
      `${method} ${path}`,
      summary,
      roles.includes('anyone') ? 'without a token' : roles.join(', '),
      scope === undefined ? '' : `\`${scope}\``,
    ])
    const sort = (all: string[][]) => all.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))
    assert.deepEqual(sort(rows.map(([, ...cells]) => cells)), sort(expected))
  })
})
