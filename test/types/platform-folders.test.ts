import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { after, before, describe, it, test } from 'node:test'
import { root } from '../support/compile.ts'

const fixtures = join(root, 'test/fixtures/platform-scripts')

/** @returns the lines of the compiler, each without the path above its folder */
const compileFolders = (folders: string[]): Promise<{ code: number; lines: string[] }> =>
  new Promise((resolve) => {
    const script = join(root, 'test/support/compile-plugins.ts')
    execFile(process.execPath, [script, ...folders], { cwd: root }, (error, stdout, stderr) => {
      const lines = (stdout + stderr).split('\n').filter((line) => line !== '')
      resolve({
        code: Number(error?.code ?? 0),
        lines: lines.map((line) => line.replace(/^.*annex-wrong-\w+\//, '')),
      })
    })
  })

type Wrong = { at: string; from: string; to: string; says: RegExp }

/** A change of a sound folder, and what the compiler has to say of it. */
const wrong: Wrong[] = []
const inPoll = (from: string, to: string, says: RegExp) =>
  wrong.push({ at: 'poll-card/src/index.tsx', from, to, says })
const inBilling = (from: string, to: string, says: RegExp) =>
  wrong.push({ at: 'billing-link/src/index.ts', from, to, says })
const inShelf = (from: string, to: string, says: RegExp) =>
  wrong.push({ at: 'shelf-sync/src/index.ts', from, to, says })

/** A misspelt property of each element, as `[from, to]` in the sound script. */
const misspelt: [string, string][] = [
  ['<block controls=', '<block control='],
  ['<card title=', '<card titel='],
  ['<card title={title} hint=', '<card title={title} hin='],
  ['<divider size=', '<divider sise='],
  ['<hstack align=', '<hstack aline='],
  ['<vstack align=', '<vstack alignment='],
  ['<box grow=', '<box grwo='],
  ['<text style=', '<text styel='],
  ['<link target=', '<link traget='],
  ['<image source=', '<image src='],
  ['label="Choice"\n            hint=', 'label="Choice"\n            hnit='],
  ['initialValue={state.choice}', 'intialValue={state.choice}'],
  ['placeholder="Choose"', 'placehodler="Choose"'],
  ['onValueChange=', 'onValueChanged='],
  ['<textinput state="reason" placeholder=', '<textinput state="reason" placeHolder='],
  ['inputType="text"', 'inputtype="text"'],
  ['<switch state="secret" initialValue=', '<switch state="secret" value='],
  ['<checkbox state="sure"', '<checkbox stat="sure"'],
  ['disabled={state.shown}', 'disable={state.shown}'],
  ['syntax="json"', 'sintax="json"'],
  ['onContentChange=', 'onContentChanged='],
  ['<markdown content=', '<markdown contents='],
  ['data={{ choice:', 'date={{ choice:'],
  ['<button key={action} label=', '<button key={action} labl='],
  ['tooltip="Vote"', 'toolTip="Vote"'],
  ['<stepper activeStep=', '<stepper activStep='],
  ['onComplete=', 'onCompleted='],
  ['<step id="first" title=', '<step id="first" titel='],
  ['<modal title="Poll" subtitle=', '<modal title="Poll" subTitle='],
  ['submit={<button label="Send"', 'submit={<button lable="Send"'],
]
for (const [from, to] of misspelt) inPoll(from, to, /error TS(2322|2741): /)

inPoll('<divider size="small" />', '<divder size="small" />', /Property 'divder' does not exist/)
inPoll('<divider size="small" />', '<divider size="smal" />', /Type '"smal"' is not assignable/)
inPoll('<divider size="small" />', '<divider><text>no children</text></divider>', /children/)
inPoll('style="secondary"', 'style="secundary"', /"secundary"/)
inPoll("{ title: 'Vote', text:", "{ titel: 'Vote', text:", /'title' is missing/)
inPoll('state="reason" ', '', /'state' is missing/)
inPoll(' onPress={{ action }} />', ' />', /'onPress' is missing/)
inPoll('props.url } }]', 'props.urll } }]', /'urll' does not exist/)

inBilling('context.api.userAgent', 'context.api.userAgnet', /'userAgnet' does not exist.*'userAgent'/)
inBilling('configuration.currency ??', 'configuration.curency ??', /'curency' does not exist/)
inBilling('installation.configuration\n', 'installation.configuraton\n', /error TS/)
inBilling('  OAuthResponse,\n', '  OAuthRespons,\n', /no exported member.*'OAuthRespons'/)
inBilling(
  'response.expires_in * 1000',
  'response.expires_in.trim()',
  /'trim' does not exist on type 'number'/,
)
inBilling('  authorizeURL:', '  authoriseURL:', /'authoriseURL' does not exist/)

inShelf(
  "EventByType<'space_content_updated'",
  "EventByType<'space_content_update'",
  /Did you mean '"space_content_updated"'/,
)
inShelf('api.userAgent', 'api.userAgent.name', /'name' does not exist on type 'string'/)
inShelf('environment.installation!.spaces', 'environment.installation!.space.of', /error TS/)
inShelf('event.commitId', 'event.comitId', /'comitId' does not exist/)
inShelf('shelf.books.count', 'shelf.boks.count', /'boks' does not exist.*'books'/)

test('TypeScript finds no error in folders of the other platform with their own tsconfig.json', async () => {
  const folders = readdirSync(fixtures).map((name) => join(fixtures, name))
  assert.ok(folders.length > 12)
  assert.deepEqual(await compileFolders(folders), { code: 0, lines: [] })
})

/** Where the changed script of a row lies, beside the sound one. */
const pathOf = ({ at }: Wrong, index: number): string => join(dirname(at), `wrong-${index}${extname(at)}`)

describe('TypeScript finds each wrong spelling in these folders:', () => {
  let folder: string
  let lines: string[]
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'annex-wrong-'))
    const names = new Set(wrong.map(({ at }) => at.split('/')[0] ?? ''))
    for (const name of names) cpSync(join(fixtures, name), join(folder, name), { recursive: true })
    for (const [index, row] of wrong.entries()) {
      const sound = readFileSync(join(folder, row.at), 'utf8')
      assert.ok(sound.includes(row.from), `${row.at} has no ${row.from}`)
      writeFileSync(
        join(folder, pathOf(row, index)),
        sound.replace(row.from, () => row.to),
      )
    }
    lines = (await compileFolders([...names].map((name) => join(folder, name)))).lines
  })
  after(() => rmSync(folder, { recursive: true }))

  for (const [index, row] of wrong.entries()) {
    it(`${row.at.split('/')[0]}: ${row.to.trim()}`, () => {
      const found = lines.findIndex((line) => line.startsWith(`${pathOf(row, index)}(`))
      assert.notEqual(found, -1, 'nothing was found')
      const next = lines.slice(found + 1).findIndex((line) => !line.startsWith(' '))
      const message = lines.slice(found, next === -1 ? undefined : found + 1 + next).join('\n')
      assert.match(message, row.says)
    })
  }

  it('but none in correct scripts', () => {
    const others = lines.filter((line) => !/^\s|\/wrong-\d+\.tsx?\(/.test(line))
    assert.deepEqual(others, [])
  })
})

const loose = `import { RuntimeContext } from '@gitbook/runtime'
export const read = (given, { environment }: RuntimeContext) => given[environment.apiEndpoint]
`

/** The options of a folder, and what the compiler finds in a script of the time before `strict`. */
const options: [string, string | undefined, RegExp | undefined][] = [
  ['no tsconfig.json', undefined, /TS7006/],
  ['a tsconfig.json that names none', '{}', undefined],
  ['strict: false', '{"compilerOptions":{"strict":false}}', undefined],
  ['strict: true', '{"compilerOptions":{"strict":true}}', /TS7006/],
  ['only noImplicitAny', '{"compilerOptions":{"noImplicitAny":true}}', /TS7006/],
  ['its own verbatimModuleSyntax', '{"compilerOptions":{"verbatimModuleSyntax":true}}', /TS1484/],
  ['a missing base', '{"extends":"@none/tsconfig","compilerOptions":{"lib":["ES2021"]}}', undefined],
  ['a strict base', '{"extends":"./strict.json"}', undefined],
  [
    'options that newer compilers lack',
    '{"compilerOptions":{"target":"ES5","downlevelIteration":true,"baseUrl":".","moduleResolution":"node"}}',
    undefined,
  ],
  ['a broken file', '{', undefined],
]

describe('the compiler uses the options of the folder:', () => {
  let folder: string
  let lines: string[]
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'annex-wrong-'))
    for (const [index, [, tsconfig]] of options.entries()) {
      const files = {
        'src/index.ts': loose,
        'strict.json': '{"compilerOptions":{"strict":true}}',
        'src/index.test.ts': 'import "node:test"; const wrong: number = "text"',
        ...(tsconfig !== undefined && { 'tsconfig.json': tsconfig }),
      }
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, `${index}`, path)), { recursive: true })
        writeFileSync(join(folder, `${index}`, path), text)
      }
    }
    ;({ lines } = await compileFolders(options.map((_, index) => join(folder, `${index}`))))
  })
  after(() => rmSync(folder, { recursive: true }))

  for (const [index, [name, , says]] of options.entries()) {
    it(name, () => {
      const found = lines.filter((line) => line.startsWith(`${index}/`))
      if (says === undefined) return assert.deepEqual(found, [])
      assert.match(found.join('\n'), says)
    })
  }

  it('and finds nothing outside the folders', () => {
    assert.deepEqual(
      lines.filter((line) => !/^(\d+\/| )/.test(line)),
      [],
    )
  })
})
