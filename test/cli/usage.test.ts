import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { assertHarmless } from './support/assert-harmless.ts'
import { makeFolder, runAnnex } from './support/run-annex.ts'

test('help goes to stdout and begins with examples', async () => {
  const { code, stdout, stderr } = await runAnnex(['install', '--help'])
  assert.equal(code, 0)
  assert.equal(stderr, '')
  assert.match(stdout, /^Examples:\n {2}npx annex install /)
  assert.match(stdout, /--set <name=value>/)
  assert.match(stdout, /--json/)
})

for (const group of ['deliveries', 'events']) {
  test(`the help of ${group} begins with examples`, async () => {
    const { stdout } = await runAnnex([group, '--help'])
    assert.match(stdout, new RegExp(`^Examples:\\n {2}npx annex ${group} `))
  })
}

const mistakes: [string, string[], RegExp][] = [
  ['an unknown command names the nearest one', ['instal', 'echo'], /Did you mean install\?/],
  [
    'an unknown option names the nearest one',
    ['deliveries', 'list', '--stat', 'pending'],
    /Did you mean --state\?/,
  ],
  [
    'an unknown event type names the nearest one',
    ['events', 'publish', 'site_vew'],
    /did you mean "site_view"\?/,
  ],
  [
    'a limit that is not a number is refused',
    ['deliveries', 'list', '--limit', 'abc'],
    /--limit.*whole number from 1 to 1000/,
  ],
  [
    'logs of two integrations are refused',
    ['logs', 'echo', '--integration', 'webhook'],
    /Name echo or --integration webhook, not both/,
  ],
  ['a limit out of range is refused', ['logs', '--limit', '5000'], /--limit.*whole number from 1 to 1000/],
  [
    'an impossible date is refused',
    ['deliveries', 'list', '--after', '2026-02-30'],
    /It must be a time \(2026-01-31T12:00Z\)/,
  ],
  ['an unknown state is refused', ['deliveries', '--state', 'nope'], /pending, delivered, failed/],
  ['a call without a command prints the help', [], /Usage: npx annex/],
  ['a missing argument is named', ['deliveries', 'show'], /missing required argument 'id'/],
  [
    '--set without = is refused',
    ['install', 'echo', '--set', 'colour'],
    /--set takes name=value, not "colour"/,
  ],
  [
    'a site and a space at once are refused',
    ['install', 'echo', '--site', 'a', '--space', 'b'],
    /cannot be used/,
  ],
  ['configure without a change is refused', ['configure', 'echo'], /Name a change/],
  [
    '--data that is not JSON is refused',
    ['events', 'publish', 'site_view', '--data', '{'],
    /--data cannot be read/,
  ],
  [
    'a number in --data that would be rounded is refused',
    ['events', 'publish', 'site_view', '--data', '{"count":9007199254740993}'],
    /--data cannot be read: The number 9007199254740993 would be rounded: send a smaller one, or text where text is taken\.\n/,
  ],
  ...['receivers show', 'deliveries send', 'jobs run', 'install', 'pause', 'rotate-secret'].flatMap(
    (command): [string, string[], RegExp][] => [
      [
        `${command} of an empty id is refused`,
        [...command.split(' '), ''],
        /An empty text is no id and no name/,
      ],
      [
        `${command} of a dot segment is refused`,
        [...command.split(' '), '..'],
        /"\.\." is no id and no name/,
      ],
    ],
  ),
  ['an invalid --url is refused', ['integrations', '--url', 'ftp://x'], /is no address of an Annex/],
]
for (const [title, args, expected] of mistakes) {
  test(`${title}: exit code 2, nothing on stdout`, async () => {
    const { code, stdout, stderr } = await runAnnex(args)
    assert.equal(code, 2)
    assert.equal(stdout, '')
    assert.match(stderr, expected)
    assert.doesNotMatch(stderr, /\n {4}at /)
  })
}

test('an error escapes the escape sequences of an argument', async () => {
  const { stderr } = await runAnnex(['install', 'echo', '--set', 'a\x1b]52;c;aGk\x07b'])
  assertHarmless(stderr)
  assert.match(stderr, /a\\x1b\]52/)
})

test('a command without a running server prints one line with the next step', async (context) => {
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  const env = { DATA_DIR: await makeFolder(context), PORT: String(port) }
  const { code, stdout, stderr } = await runAnnex(['installations'], { env })
  assert.equal(code, 1)
  assert.equal(stdout, '')
  assert.match(stderr, /^annex: No Annex is running at http:\/\/127\.0\.0\.1:\d+\. .*make run.*\n$/)
})
