/**
 * Fills the tables of the docs that are data in the code: settings in docs/settings.md, codes in docs/errors.md,
 * limits in docs/limits.md, the operations and headers that scripts cannot send in docs/api.md, scopes of events in docs/plugins.md, exports of
 * the SDK in docs/sdk.md. With `--check` it changes nothing, and fails when a table is not what the code says.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type ConstantLocation, limitsTable } from '../../host/config/limits-table.ts'
import { describeSetting } from '../../host/config/setting.ts'
import { settingsTable } from '../../host/config/settings-table.ts'
import { droppedHeaders } from '../../host/endpoints/endpoint-headers.ts'
import { errorCodes } from '../../host/errors.ts'
import { loadApi } from '../../schemas/api.ts'
import { eventRules } from '../../schemas/events.ts'
import { createApiTable } from './api-table.ts'
import { createSdkReference } from './sdk-reference.ts'

const root = new URL('../..', import.meta.url)

const settingRows = Object.entries(settingsTable).map(
  ([name, setting]) =>
    `| \`${name}\` | ${setting.default === '' ? '' : `\`${setting.default}\``} | ${describeSetting(setting)} |`,
)
const errorRows = Object.entries(errorCodes).map(
  ([code, { status, meaning }]) => `| <a id="${code}"></a>\`${code}\` | ${status} | ${meaning} |`,
)

const limitRows = limitsTable.map(({ id, what, at, code, over }) => {
  const unit = at.unit === '' ? '' : ` ${at.unit}`
  const caller = code === undefined ? '' : `${errorCodes[code].status} \`${code}\``
  const place = 'setting' in at ? `\`${at.setting}\`` : `\`${at.constant}\` in \`${at.file}\``
  const value = 'setting' in at ? settingsTable[at.setting].default : String(readConstant(at))
  return `| \`${id}\` | ${what} | ${value}${unit} | ${place} | ${caller} | ${over} |`
})

const headerRows = droppedHeaders.map(({ name, reason }) => `| \`${name}\` | ${reason} |`)

const eventRows = Object.entries(eventRules).map(
  ([type, { kind, scopes }]) =>
    `| \`${type}\` | ${kind} | ${scopes.map((scope) => `\`${scope}\``).join(' or ')} |`,
)

const tables: [file: string, mark: string, rows: string[]][] = [
  ['docs/settings.md', 'settings', ['| setting | default | meaning |', '|---|---|---|', ...settingRows]],
  ['docs/api.md', 'operations', [createApiTable(loadApi())]],
  ['docs/api.md', 'dropped headers', ['| header | reason |', '|---|---|', ...headerRows]],
  ['docs/plugins.md', 'event scopes', ['| event | installed in a | scope |', '|---|---|---|', ...eventRows]],
  ['docs/sdk.md', 'sdk', [createSdkReference(fileURLToPath(root), 'runtime/sdk')]],
  ['docs/errors.md', 'errors', ['| code | status | meaning |', '|---|---|---|', ...errorRows]],
  [
    'docs/limits.md',
    'limits',
    [
      '| limit | of what | default | set by | the caller gets | and |',
      '|---|---|---|---|---|---|',
      ...limitRows,
    ],
  ],
]

const isCheck = process.argv.includes('--check')
const stale = tables
  .filter(([file, mark, rows]) => fill(new URL(file, root), mark, rows))
  .map(([file]) => file)
if (isCheck && stale.length > 0) {
  process.stderr.write(`stale: ${stale.join(', ')}. Run \`make types\` and commit what it changes.\n`)
  process.exitCode = 1
}

/** Where a number stands in the code alone, the docs say what stands there. */
function readConstant({ file, constant }: ConstantLocation): number {
  const text = readFileSync(new URL(file, root), 'utf8')
  const found = new RegExp(`^(?:export )?const ${constant} = ([\\d_ *]+)$`, 'm').exec(text)?.[1]
  if (found === undefined) throw new Error(`${file} has no number ${constant} (host/config/limits-table.ts)`)
  return found
    .replaceAll('_', '')
    .split('*')
    .reduce((product, part) => product * Number(part), 1)
}

/** Puts the rows between the two marks. @returns whether that changed, or would change, the file */
function fill(file: URL, mark: string, rows: string[]): boolean {
  const text = readFileSync(file, 'utf8')
  const [start, end] = [`<!-- ${mark} -->`, `<!-- /${mark} -->`]
  const [before, rest] = text.split(start)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined)
    throw new Error(`${file.pathname} has no ${start} … ${end}`)
  const filled = `${before}${start}\n${rows.join('\n')}\n${end}${after}`
  if (!isCheck && filled !== text) writeFileSync(file, filled)
  return filled !== text
}
