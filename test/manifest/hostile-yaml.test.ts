import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseYaml } from '../../host/manifest/parse-yaml.ts'
import { readManifest } from '../../host/manifest/read-manifest.ts'
import { createFolder } from '../bundle/plugin-folder.ts'
import { options, read, sound, textsOf } from './reading.ts'

const bomb = `a: &a [x,x,x,x,x,x,x,x,x,x]
b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]
c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]
d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]
e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]
f: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]
`

const attacks: Record<string, { yaml: string | Uint8Array; says: RegExp }> = {
  'aliases that explode': {
    yaml: bomb,
    says: /:\d+:\d+ error more than 20000 values, with its aliases resolved/,
  },
  'an alias that contains itself': {
    yaml: `${sound}blocks: &a [*a]\n`,
    says: /8:13 error the alias "\*a" contains itself/,
  },
  'an alias to nothing': { yaml: `${sound}blocks: *a\n`, says: /8:9 error .*alias/i },
  '10 MB': {
    yaml: '#'.repeat(10_000_000),
    says: /:1:1 error the manifest has 10000000 bytes; at most 262144 are read/,
  },
  'a NUL byte': {
    yaml: `${sound}summary: "a\0b"\n`,
    says: /8:12 error a NUL byte: the manifest is not a text file/,
  },
  'bytes that are not UTF-8': {
    yaml: Buffer.concat([Buffer.from(sound), Buffer.from([0xff, 0xfe])]),
    says: /8:1 error bytes that are not UTF-8/,
  },
  'a duplicate key': { yaml: `${sound}title: Other\n`, says: /8:1 error the key "title" is given twice/ },
  'two documents': { yaml: `${sound}---\nname: other\n`, says: /error a second YAML document begins here/ },
  'a key named __proto__': {
    yaml: `${sound}__proto__: { script: x }\n`,
    says: /8:1 error the key "__proto__" is reserved/,
  },
  'a setting named constructor': {
    yaml: `${sound}configurations: { account: { properties: { constructor: { type: string } } } }\n`,
    says: /8:44 error the key "constructor" is reserved/,
  },
  'a setting with the name of an Object method': {
    yaml: `${sound}configurations: { account: { properties: { hasOwnProperty: { type: string } } } }\n`,
    says: /8:44 error the key "hasOwnProperty" is reserved/,
  },
  'a merge key': {
    yaml: `${sound}<<: { script: x }\n`,
    says: /8:1 error merge keys \("<<"\) are not supported/,
  },
  'a custom tag': {
    yaml: `${sound}summary: !!js/function x\n`,
    says: /8:\d+ error the tag ".*js\/function": tags are not allowed/,
  },
  'a number as a key': { yaml: `${sound}5: x\n`, says: /8:1 error the key 5 is not text/ },
  'a list as a key': {
    yaml: `${sound}? [a]\n: x\n`,
    says: /8:3 error a key must be a name, not a list, a map or an alias/,
  },
  'a list instead of a map': { yaml: '- a\n', says: /1:1 error the manifest must be a map, found a list/ },
  'plain text': { yaml: 'hello', says: /1:1 error the manifest must be a map, found text "hello"/ },
  nothing: { yaml: '', says: /1:1 error the manifest is empty/ },
  'only a comment': { yaml: '# hi\n', says: /1:1 error the manifest is empty/ },
  'an open bracket': {
    yaml: `${sound}blocks: [a\n`,
    says: /error not valid YAML: flow sequence/,
  },
  'a tab as indentation': {
    yaml: `${sound}icon:\n\tx: y\n`,
    says: /9:1 error not valid YAML: tabs are not allowed as indentation/,
  },
  '100,000 brackets': { yaml: '['.repeat(100_000), says: /1:\d+ error nested more than 32 levels deep/ },
  '100,000 dashes': { yaml: '- '.repeat(100_000), says: /1:\d+ error nested more than 32 levels deep/ },
  '30,000 keys': {
    yaml: Array.from({ length: 30_000 }, (_, i) => `k${i}:`).join('\n'),
    says: /error more than 20000 values/,
  },
}

for (const [what, { yaml, says }] of Object.entries(attacks)) {
  test(`${what} in a manifest is an error with its position`, { timeout: 60_000 }, async (t) => {
    const reading = await read(t, yaml)
    assert.match(textsOf(reading).join('\n\n'), says)
    assert.equal(reading.manifest, undefined)
    assert.ok(reading.problems.length <= 50)
  })
}

test('a harmless alias is resolved', async (t) => {
  const reading = await read(
    t,
    `${sound}configurations:\n  account: &same\n    properties: { a: { type: string } }\n  site: *same\n`,
  )
  assert.deepEqual(textsOf(reading), [])
  assert.equal(reading.manifest?.configurations?.site?.properties?.a?.type, 'string')
})

test('a manifest that is a symlink out of the folder is refused', async (t) => {
  const outside = await createFolder(t, { 'other.yaml': `${sound}the-secret: of-the-host\n` })
  const folder = await createFolder(t, {})
  await symlink(join(outside, 'other.yaml'), join(folder, 'service-manifest.yaml'))
  const reading = await readManifest(folder, options)
  assert.deepEqual(textsOf(reading), [
    'service-manifest.yaml:1:1 error the manifest lies outside the plugin folder: a symlink leads there',
  ])
  assert.ok(!JSON.stringify(reading).includes('the-secret'))
})

test('a manifest that is a FIFO, a folder or a circular symlink is an error', async (t) => {
  const folder = await createFolder(t, {})
  const path = join(folder, 'service-manifest.yaml')
  const read = async () => textsOf(await readManifest(folder, options)).join()
  execFileSync('mkfifo', [path])
  assert.match(await read(), /the manifest is not a regular file/)
  execFileSync('rm', [path])
  await mkdir(path)
  assert.match(await read(), /the manifest is not a regular file/)
  execFileSync('rmdir', [path])
  await symlink(path, path)
  assert.match(await read(), /the manifest is a symlink that leads in a circle/)
})

test('escape sequences of a manifest do not reach the terminal', async (t) => {
  const reading = await read(t, `${sound}"ev\\e[31mil": "x"\n? "\\u202egnp.exe"\n: x # \u009b31m\u202e\n`)
  const text = textsOf(reading).join('\n')
  assert.match(text, /unknown field "ev\\x1b\[31mil"/)
  assert.match(text, /unknown field "\\u\{202e\}gnp\.exe"/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  assert.doesNotMatch(text, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/)
})

test('no text or bytes make the parser throw', () => {
  const grammar = fc.array(
    fc.constantFrom(
      'a',
      ': ',
      '\n',
      '  ',
      '- ',
      '[',
      ']',
      '{',
      '}',
      ',',
      '&a ',
      '*a',
      '!t ',
      '"',
      "'",
      '? ',
      '<<',
      '|',
      '>',
      '#',
      '---',
      '...',
      '%',
      '\t',
      '__proto__',
      '5',
      '~',
    ),
    { maxLength: 60 },
  )
  fc.assert(
    fc.property(grammar, (parts) => Array.isArray(parseYaml(Buffer.from(parts.join(''))).complaints)),
    { numRuns: 2000 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => Array.isArray(parseYaml(bytes).complaints)),
  )
})
