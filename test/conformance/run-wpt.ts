/**
 * Runs the web-platform-tests of a checkout inside isolates and prints how many subtests of each area pass.
 *
 *     node test/conformance/run-wpt.ts --wpt FOLDER [--failures] [--json] [--jobs N] [--least PERCENT] [PATH…]
 *
 * A PATH is an area (`url`) or the start of a file's path (`url/url-con`). The tests are not part of this
 * repository. `--least` fails the run where an area passes less.
 */
import path from 'node:path'
import { parseArgs } from 'node:util'
import { whySubtestIsExcluded } from './excluded.ts'
import { type Case, listCases } from './list-cases.ts'
import { type Outcome, printReport, sumUp } from './report.ts'
import type { Subtest } from './run-case.ts'
import { runCases } from './run-cases.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    wpt: { type: 'string', default: process.env.WPT_DIR ?? '' },
    failures: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
    least: { type: 'string', default: '0' },
  },
})
if (values.wpt === '') {
  console.error('Name a checkout of web-platform-tests with --wpt FOLDER or WPT_DIR.')
  process.exit(2)
}

const wptFolder = path.resolve(values.wpt)
const cases = await listCases(wptFolder, positionals)
const outcomes: Outcome[] = cases.flatMap((given) =>
  given.excluded === undefined
    ? []
    : [{ given, passed: 0, failures: [], excluded: [], reason: given.excluded }],
)
const runnable = cases.filter((given) => given.excluded === undefined)
let done = 0
await runCases(wptFolder, runnable, Number(values.jobs), (given, subtests) => {
  done += 1
  if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${runnable.length} files `)
  outcomes.push(toOutcome(given, subtests))
})
if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')

const summary = sumUp(outcomes)
if (values.json) console.log(JSON.stringify(summary, null, 2))
else printReport(summary, { failures: values.failures, files: positionals.length > 0 })
const least = Number(values.least)
process.exitCode = summary.areas.some(({ passed, total }) => total > 0 && (passed / total) * 100 < least)
  ? 1
  : 0

function toOutcome(given: Case, subtests: Subtest[]): Outcome {
  const name = `${given.file}${given.variant}`
  const excluded = subtests.filter((subtest) => whySubtestIsExcluded(name, subtest.name) !== undefined)
  const counted = subtests.filter((subtest) => !excluded.includes(subtest))
  return {
    given,
    passed: counted.filter(({ passed }) => passed).length,
    failures: counted.filter(({ passed }) => !passed),
    excluded: excluded.map((subtest) => subtest.name),
  }
}
