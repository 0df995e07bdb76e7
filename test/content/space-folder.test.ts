import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'

let annex: Annex
const folders: string[] = []
before(async () => {
  annex = await startAnnex()
})
after(async () => {
  await annex.close()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

type Space = { id: string; folder: string; read: () => Promise<Json>; revision: () => Promise<string> }

async function makeSpace(slug: string, files: Record<string, string | Buffer>): Promise<Space> {
  const folder = mkdtempSync(join(tmpdir(), 'annex-space-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) write(folder, name, text)
  const made = await annex.api('POST', '/v1/orgs/home/spaces', { slug, title: slug, folder })
  assert.equal(made.status, 201, made.text)
  const { id } = made.json
  const { json: now } = await annex.api('GET', `/v1/spaces/${id}`)
  assert.deepEqual([made.json.revision, made.json.problems], [now.revision, now.problems])
  const read = async () => (await annex.api('GET', `/v1/spaces/${id}/content`)).json
  return { id, folder, read, revision: async () => (await read()).id }
}

function write(folder: string, name: string, text: string | Buffer): void {
  mkdirSync(join(folder, name, '..'), { recursive: true })
  writeFileSync(join(folder, name), text)
}

/** The paths of a tree, with the pages below each in brackets. */
const shape = (pages: Json[]): string =>
  pages.map(({ path, pages: below }) => path + (below.length > 0 ? `(${shape(below)})` : '')).join(' ')

const flat = (pages: Json[]): Json[] => pages.flatMap((page) => [page, ...flat(page.pages)])

async function changed(space: Space, edit: () => void): Promise<Json> {
  const before = await space.revision()
  edit()
  return until(space.read, ({ id }) => id !== before)
}

describe('the folder of a space', () => {
  it('gives pages by folder, below the page of the folder, by position and name', async () => {
    const space = await makeSpace('by-folder', {
      'README.md': '# Welcome\n',
      'guides/README.md': '# Guides\n',
      'guides/page-10.md': '# Ten\n',
      'guides/page-2.md': '# Two\n',
      'guides/first.md': '---\nposition: 1\n---\n# First\n',
      'alone/deep/page.md': '# Alone\n',
    })
    const { pages, number, type } = await space.read()
    const guides = 'guides(guides/first guides/page-2 guides/page-10)'
    assert.equal(shape(pages), `README alone/deep/page ${guides}`)
    assert.deepEqual([number, type], [1, 'initial'])
  })

  it('follows SUMMARY.md with its groups, and puts other pages last', async () => {
    const space = await makeSpace('by-summary', {
      'SUMMARY.md':
        '# Table of contents\n\n* [Hi](README.md)\n* [B](b.md)\n  * [A](<a.md>)\n* Soon\n  * [C](c.md)\n\n## Reference\n\n* [API](api/README.md)\n',
      'README.md': 'No heading.\n',
      'a.md': '# A\n',
      'c.md': '---\nposition: first\n---\n# The **C** of some_file_name\n',
      'b.md': '---\ntitle: "B: the page"\ndescription: All of it\nsidebar: left\n---\n\n# Other\n',
      'api/README.md': '# API\n',
      'api/errors.md': '# Errors\n',
    })
    const { pages } = await space.read()
    assert.equal(shape(pages), 'README b(a) soon(c) reference(api(api/errors))')
    const [hi, b, soon, reference] = pages
    assert.deepEqual([hi.title, b.title, b.description], ['Hi', 'B: the page', 'All of it'])
    assert.deepEqual([reference.type, reference.title], ['group', 'Reference'])
    assert.deepEqual(
      [soon.type, soon.title, soon.pages[0].title],
      ['group', 'Soon', 'The C of some_file_name'],
    )
    const { problems } = (await annex.api('GET', `/v1/spaces/${space.id}`)).json
    assert.deepEqual(
      problems.map(({ file, line }: Json) => `${file}:${line}`),
      ['c.md:2'],
    )
    const page = await annex.api('GET', `/v1/spaces/${space.id}/content/page/b`)
    assert.equal(page.json.markdown, '# Other\n')
    const nested = await annex.api('GET', `/v1/spaces/${space.id}/content/page/api%2Ferrors`)
    assert.equal(nested.json.title, 'Errors')
  })

  it('keeps the id of a page that is edited, moved, or moved and edited', async () => {
    const space = await makeSpace('ids', {
      'one.md': '# One\n',
      'two.md': '# Two\n',
      'three.md': '# Three\n',
    })
    const ids = (pages: Json[]) => Object.fromEntries(flat(pages).map(({ path, id }) => [path, id]))
    const first = ids((await space.read()).pages)
    const edited = await changed(space, () => write(space.folder, 'one.md', '# One\n\nMore.\n'))
    assert.deepEqual(ids(edited.pages), first)
    const moved = await changed(space, () => {
      mkdirSync(join(space.folder, 'deep'))
      renameSync(join(space.folder, 'one.md'), join(space.folder, 'deep/uno.md'))
    })
    assert.equal(ids(moved.pages)['deep/uno'], first.one)
    const both = await changed(space, () => {
      rmSync(join(space.folder, 'two.md'))
      write(space.folder, 'deep/two.md', '# Two\n\nOther words.\n')
    })
    assert.equal(ids(both.pages)['deep/two'], first.two)
    const renewed = await changed(space, () => write(space.folder, 'one.md', '# A new one\n'))
    const last = ids(renewed.pages)
    assert.equal(last['deep/uno'], first.one)
    assert.equal(new Set(Object.values(last)).size, 4)
  })

  it('sees a change beside a file that is written continuously', async (context) => {
    const space = await makeSpace('busy', { 'one.md': '# One\n' })
    const log = setInterval(() => write(space.folder, 'log.txt', `${Date.now()}`), 50)
    context.after(() => clearInterval(log))
    const { pages } = await changed(space, () => write(space.folder, 'two.md', '# Two\n'))
    assert.equal(shape(pages), 'one two')
  })

  it('lists the changes of a revision and their author', async () => {
    const space = await makeSpace('changes', { 'a.md': '# A\n', 'b.md': '# B\n', 'c.md': '# C\n' })
    const { id, author, type } = await changed(space, () => {
      write(space.folder, 'a.md', '# A\n\nMore.\n')
      write(space.folder, 'new.md', '# New\n')
      rmSync(join(space.folder, 'b.md'))
      renameSync(join(space.folder, 'c.md'), join(space.folder, 'd.md'))
    })
    assert.deepEqual([author, type], [{ type: 'host', id: 'folder' }, 'edits'])
    const { json } = await annex.api('GET', `/v1/spaces/${space.id}/revisions/${id}/changes`)
    const told = json.changes.map(({ type, page }: Json) => `${type} ${page.path}`).sort()
    assert.deepEqual(told, ['page_created new', 'page_deleted b', 'page_edited a', 'page_moved d'])
    const some = await annex.api('GET', `/v1/spaces/${space.id}/revisions/${id}/changes?limit=1`)
    assert.deepEqual([some.json.changes.length, some.json.more], [1, 3])
  })
})

describe('a hostile folder', () => {
  const good = { 'good.md': '# Good\n', 'sub/also good.md': '# Also good\n' }
  const problemsOf = async (space: Space): Promise<Record<string, string>> => {
    const { json } = await annex.api('GET', `/v1/spaces/${space.id}`)
    const entries = (json.problems ?? []).map(({ file, line, message }: Json) => [
      line === undefined ? file : `${file}:${line}`,
      message,
    ])
    return Object.fromEntries(entries)
  }

  it('loses each bad file with the reason and the next step, and keeps the others', async () => {
    const space = await makeSpace('bad-files', {
      ...good,
      'large.md': Buffer.alloc(50 * 1024 * 1024, '# Large\n'),
      'yaml.md': '---\ntitle: "open\nmore: x\n---\n# Yaml\n',
      'list.md': '---\ntitle: [a, b]\n---\n',
      'plain.md': '---\njust text\n---\n',
      'brackets.md': `---\ntitle: ${'['.repeat(10_000)}\n---\n`,
      'long.md': `---\n${'x: 1\n'.repeat(10_000)}---\n`,
      'laughs.md': `---\na: &a [x,x]\n${[...'bcdefgh'].map((c, n) => `${c}: &${c} [*${'abcdefg'[n]},*${'abcdefg'[n]}]`).join('\n')}\ntitle: *h\n---\n`,
      'latin.md': Buffer.from('# Caf\xe9\n', 'latin1'),
      'nul.md': 'one\ntwo\0\n',
      'guides.md': '# One\n',
      'guides/README.md': '# Two\n',
    })
    const problems = await problemsOf(space)
    assert.match(problems['large.md'] ?? '', /52428800 bytes; at most 1048576 are read\. Split it/)
    assert.match(problems['yaml.md:4'] ?? '', /not valid YAML: .+\. Mend it/)
    for (const [place, text] of [
      ['list.md:2', /"title" .+ is no text/],
      ['plain.md:2', /no map\. Write fields/],
      ['long.md:1', /longer than 16384 characters\. Shorten it/],
      ['latin.md', /not UTF-8\. Save it/],
      ['nul.md:2', /NUL byte/],
      ['guides/README.md', /comes from guides\.md already\. Rename/],
    ] as const) {
      assert.match(problems[place] ?? '', text, place)
    }
    assert.ok(Object.keys(problems).some((place) => place.startsWith('brackets.md')))
    assert.ok(Object.keys(problems).some((place) => place.startsWith('laughs.md')))
    const paths = flat((await space.read()).pages).map(({ path }) => path)
    assert.deepEqual(
      paths,
      ['good', 'guides', 'laughs', 'list', 'sub/also good'],
      'a wrong field costs no page',
    )
    await changed(space, () => rmSync(join(space.folder, 'large.md')) ?? write(space.folder, 'more.md', ''))
    assert.equal((await problemsOf(space))['large.md'], undefined, 'a report ends with its reason')
  })

  it('follows no link out of the folder, and opens only plain files', async () => {
    const secret = mkdtempSync(join(tmpdir(), 'annex-secret-'))
    folders.push(secret)
    writeFileSync(join(secret, 'secret.md'), '# Secret\n')
    const space = await makeSpace('links', good)
    const token = join(annex.dataDir, 'cli.token')
    await changed(space, () => {
      symlinkSync(join(secret, 'secret.md'), join(space.folder, 'link.md'))
      symlinkSync(secret, join(space.folder, 'linked'))
      symlinkSync('.', join(space.folder, 'circle'))
      symlinkSync('/nowhere', join(space.folder, 'broken.md'))
      execFileSync('mkfifo', [join(space.folder, 'pipe.md')])
      execFileSync('ln', [token, join(space.folder, 'token.md')])
      write(
        space.folder,
        'SUMMARY.md',
        '* [Out](../secret.md)\n* [Root](/etc/passwd.md)\n* [Web](https://example.com/a.md)\n* [Up](a/../../b.md)\n* [Bad](%ff.md)\n* [Good](good.md)\n',
      )
      write(space.folder, 'third.md', '# Third\n')
    })
    const text = JSON.stringify(await space.read())
    assert.doesNotMatch(text, /secret|token|passwd/i)
    const problems = await problemsOf(space)
    for (const file of ['link.md', 'linked', 'circle', 'broken.md']) {
      assert.match(problems[file] ?? '', /symbolic link is not followed/, file)
    }
    assert.match(problems['pipe.md'] ?? '', /Not a plain file/)
    assert.match(problems['token.md'] ?? '', /a file of Annex itself/)
    for (const line of [1, 2, 3, 4, 5]) assert.ok(problems[`SUMMARY.md:${line}`], `line ${line}`)
  })

  it('accepts unusual file names, or reports them', async () => {
    const taken = [
      ...[
        'a b',
        'ümläut',
        '日本語',
        '😀',
        '-rf',
        '--help',
        '$(id)',
        "it's",
        'a"b',
        'a&b=c',
        'x?y#z',
        '50%',
        '%2e%2e',
      ],
      ...[
        'CON',
        'summary',
        'a.b.c',
        '...',
        '{{x}}',
        '<script>',
        'page_1',
        'constructor',
        '__proto__',
        'a'.repeat(200),
      ],
    ]
    const refused = ['new\nline', 'bell\u0007', 'rtl\u202egnp', 'zero\u200bwidth', 'back\\slash']
    const names = [...taken, ...refused].map((name) => [`${name === '...' ? 'x...' : name}.md`, '# Odd\n'])
    const space = await makeSpace('odd-names', { ...good, ...Object.fromEntries(names) })
    const raw = Buffer.concat([Buffer.from(`${space.folder}/raw`), Buffer.from([0xff]), Buffer.from('.md')])
    await changed(space, () => {
      writeFileSync(raw, '# Raw\n')
      write(space.folder, '.hidden.md', '# Hidden\n')
      write(space.folder, 'node_modules/x.md', '# Package\n')
      write(space.folder, 'last.md', '# Last\n')
    })
    const { pages } = await space.read()
    assert.equal(flat(pages).length, taken.length + 3)
    for (const { path, id } of flat(pages)) {
      const page = await annex.api('GET', `/v1/spaces/${space.id}/content/page/${encodeURIComponent(path)}`)
      assert.deepEqual([page.status, page.json?.id], [200, id], path)
    }
    const problems = await problemsOf(space)
    assert.equal(Object.keys(problems).length, refused.length + 1)
    assert.match(Object.values(problems).join('\n'), /not UTF-8\. Rename it/)
  })

  it('may have lists of 1,000 levels and folders of 100 levels', async () => {
    const names = Array.from({ length: 1000 }, (_, n) => `p${n}`)
    const list = names.map((name, n) => `${'  '.repeat(n)}* [${name}](${name}.md)\n`).join('')
    const space = await makeSpace('deep', {
      ...good,
      'deep.md': list,
      'SUMMARY.md': list,
      ...Object.fromEntries(names.map((name) => [`${name}.md`, `# ${name}\n`])),
      [`${'d/'.repeat(100)}page.md`]: '# Far down\n',
    })
    const { pages } = await space.read()
    assert.equal(flat(pages).length, 1003)
    assert.match(Object.values(await problemsOf(space)).join('\n'), /Lists below 20 levels/)
    assert.match(Object.values(await problemsOf(space)).join('\n'), /more than 32 folders deep/)
  })

  it('is read again when another folder replaces it, as in a checkout', async () => {
    const space = await makeSpace('replaced', { 'sub/a.md': '# A\n' })
    const { pages } = await changed(space, () => {
      rmSync(space.folder, { recursive: true })
      write(space.folder, 'sub/b.md', '# B\n')
    })
    assert.equal(shape(pages), 'sub/b')
    const again = await changed(space, () => write(space.folder, 'sub/c.md', '# C\n'))
    assert.equal(shape(again.pages), 'sub/b sub/c')
  })

  it('keeps the last revision after its folder is gone', async () => {
    const space = await makeSpace('vanishing', good)
    rmSync(space.folder, { recursive: true })
    await annex.api('POST', '/v1/reload')
    assert.equal(flat((await space.read()).pages).length, 2)
  })
})
