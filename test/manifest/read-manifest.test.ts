import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalizeManifest } from '../../host/manifest/normalize-manifest.ts'
import { permissionsOf, scopesWithoutEffect } from '../../host/manifest/permissions.ts'
import { hasErrors } from '../../host/manifest/problem.ts'
import { readManifest } from '../../host/manifest/read-manifest.ts'
import { createFolder } from '../bundle/plugin-folder.ts'
import { createPng } from '../support/create-png.ts'
import { options, read, sound, textsOf } from './reading.ts'

test('a manifest with every field has no problem', async (t) => {
  const reading = await read(
    t,
    `${sound}summary: |
  # Markdown
script: ./src/index.tsx
target: site
icon: ./assets/icon.png
previewImages: [assets/preview.png]
categories: [analytics, visitor-auth]
externalLinks:
  - { label: Docs, url: https://example.com/docs }
blocks:
  - id: stats
    title: Stats
    description: Shows numbers.
    icon: ./assets/icon.png
    urlUnfurl: ['https://stats.example/**']
    markdown: { codeblock: stats, body: content }
configurations:
  account:
    properties:
      url: { type: string, title: URL, description: Where to., default: 'https://a.example' }
      level: { type: string, enum: [low, high], default: low }
      channel: { type: string, completion_url: /channels?kind=open }
      count: { type: number, default: 1.5 }
      loud: { type: boolean, default: false }
      oauth: { type: button, button_text: Connect, callback_url: /oauth }
    required: [url, oauth]
  site:
    componentId: site-settings
  space:
    properties: {}
contentSources:
  - { id: pages, title: Pages, configuration: { componentId: pick } }
contentSecurityPolicy: |
  default-src 'self';
  img-src https: *.example.com
secrets:
  CLIENT_ID: \${{ env.LINEAR_CLIENT_ID }}
`,
    {
      'src/index.tsx': `import { createIntegration } from '@annex/runtime'\nexport default createIntegration({ a: <text>hi</text> })`,
      'assets/icon.png': createPng(64, 64),
      'assets/preview.png': createPng(1600, 800),
    },
  )
  assert.deepEqual(textsOf(reading), [])
  assert.equal(reading.manifest?.configurations?.account?.properties?.level?.type, 'string')
})

test('the file name of the reference platform is second to our own', async (t) => {
  const folder = await createFolder(t, { 'gitbook-manifest.yaml': sound })
  assert.equal((await readManifest(folder, options)).manifest?.name, 'sample')
  const both = await createFolder(t, { 'gitbook-manifest.yaml': 'x', 'service-manifest.yaml': sound })
  assert.match((await readManifest(both, options)).file, /service-manifest\.yaml$/)
})

// What is added to a sound manifest, and the first lines of every problem that it makes.
const wrong: Record<string, { add: string; says: string[] }> = {
  'an unknown field': {
    add: 'sumary: x\n',
    says: ['8:1 error unknown field "sumary"', 'hint: did you mean "summary"?'],
  },
  'an unknown scope': {
    add: '  - space:contents:read\n',
    says: [
      '8:5 error "scopes" no. 2 cannot be "space:contents:read"',
      'hint: did you mean "space:content:read"?',
    ],
  },
  'a scope given twice': {
    add: '  - site:views:read\n',
    says: ['8:5 error "site:views:read" is given twice'],
  },
  'an unknown category': {
    add: 'categories: [content, marketting]\n',
    says: ['8:23 error "categories" no. 2 cannot be "marketting"', 'hint: did you mean "marketing"?'],
  },
  'a list in place of text': {
    add: 'summary: [a]\n',
    says: ['8:10 error "summary" must be text, found a list'],
  },
  'a field without a value': { add: 'summary:\n', says: ['8:9 error "summary" must be text, found nothing'] },
  'a summary of 2049 characters': {
    add: `summary: "${'ä'.repeat(2049)}"\n`,
    says: ['8:10 error "summary" has 2049 characters; at most 2048 are allowed'],
  },
  'a link that is a script': {
    add: 'externalLinks:\n  - { label: a, url: "javascript:alert(1)" }\n',
    says: [
      '9:22 error "externalLinks" no. 1 › "url" cannot be "javascript:alert(1)"',
      'hint: expected: an http or https address',
    ],
  },
  'a link without a label': {
    add: 'externalLinks:\n  - url: https://a.example\n',
    says: ['9:5 error "label" is missing in "externalLinks" no. 1'],
  },
  'blocks with the same id': {
    add: 'blocks:\n  - { id: a, title: A }\n  - { id: a, title: B }\n',
    says: ['10:11 error "a" is given twice'],
  },
  'a title that shows nothing': {
    add: 'blocks:\n  - { id: a, title: "\u200b" }\n',
    says: ['9:21 error "blocks" no. 1 › "title" has no visible character', 'hint: found: "\\u{200b}"'],
  },
  'a title that hides a character': {
    add: 'externalLinks:\n  - { label: "a\u202eb", url: "https://a.example" }\n',
    says: ['9:14 error "externalLinks" no. 1 › "label" has a character that is not visible: \\u{202e}'],
  },
  'an unknown type of setting': {
    add: 'configurations:\n  account:\n    properties:\n      a: { type: strin }\n',
    says: [
      '11:18 error "configurations" › "account" › "properties" › "a" cannot be of type "strin"',
      'hint: did you mean "string"?',
    ],
  },
  'a setting without a type': {
    add: 'configurations:\n  site:\n    properties:\n      a: { title: A }\n',
    says: ['11:7 error "type" is missing in "configurations" › "site" › "properties" › "a"'],
  },
  'a key of another type of setting': {
    add: 'configurations:\n  site:\n    properties:\n      a: { type: number, enum: [a] }\n',
    says: ['11:26 error unknown field "enum" in "configurations" › "site" › "properties" › "a"'],
  },
  'a default of another type': {
    add: 'configurations:\n  site:\n    properties:\n      a: { type: number, default: "4" }\n',
    says: [
      '11:35 error "configurations" › "site" › "properties" › "a" › "default" must be a number, found text "4"',
    ],
  },
  'a default that is not a number': {
    add: 'configurations:\n  site:\n    properties:\n      a: { type: number, default: .nan }\n',
    says: [
      '11:35 error "configurations" › "site" › "properties" › "a" › "default" must be a finite number, found a number NaN',
    ],
  },
  'a default outside its enum': {
    add: 'configurations:\n  site:\n    properties:\n      a: { type: string, enum: [low, high], default: hig }\n',
    says: [
      '11:54 error the default "hig" is not among "enum"',
      'hint: did you mean "high"? allowed: low, high',
    ],
  },
  'a required setting that does not exist': {
    add: 'configurations:\n  site:\n    properties:\n      colour: { type: string }\n    required: [color]\n',
    says: [
      '12:16 error "required" names "color", which is not among the properties',
      'hint: did you mean "colour"?',
    ],
  },
  'a default that is not an address': {
    add: 'configurations:\n  site:\n    properties:\n      a: { type: string, format: uri, default: foo }\n',
    says: [
      '11:48 error "foo" is not a web address, which "format: uri" asks for',
      'hint: begin it with https://',
    ],
  },
  'a choice that is not an address': {
    add: 'configurations:\n  site:\n    properties:\n      a: { type: string, format: uri, enum: ["https://a.example", b] }\n',
    says: ['11:67 error "b" is not a web address, which "format: uri" asks for'],
  },
  'an unknown format': {
    add: 'configurations:\n  site:\n    properties:\n      a: { type: string, format: url }\n',
    says: ['11:34 error', '"format" cannot be "url"', 'allowed: uri'],
  },
  'a text in requiredAny': {
    add: 'configurations:\n  site:\n    properties:\n      a: { type: string }\n      view: { type: boolean }\n    requiredAny: [view, a]\n',
    says: [
      '13:25 error "requiredAny" names "a", which is not among the boolean properties',
      'hint: boolean properties: view',
    ],
  },
  'a component beside properties': {
    add: 'configurations:\n  site:\n    componentId: a\n    properties: {}\n',
    says: ['11:5 error "configurations" › "site" › "properties" cannot stand beside "componentId"'],
  },
  'an empty level': {
    add: 'configurations:\n  site: {}\n',
    says: ['9:3 error "configurations" › "site" is empty'],
  },
  'a callback on another host': {
    add: 'configurations:\n  site:\n    properties:\n      a: { type: button, button_text: Go, callback_url: //evil.example }\n',
    says: [
      '11:57 error',
      '"callback_url" cannot be "//evil.example"',
      'hint: expected: a path within the integration that begins with one "/"',
    ],
  },
  'a secret with a default': {
    add: 'configurations:\n  site:\n    properties:\n      a: { type: string, secret: true, default: x }\n',
    says: ['11:40 error', '"default" cannot stand beside "secret"'],
  },
  'a completion path without its slash': {
    add: 'configurations:\n  site:\n    properties:\n      a: { type: string, completion_url: channels }\n',
    says: ['11:42 error', '"completion_url" cannot be "channels"'],
  },
  'a callback that climbs out of the endpoint': {
    add: 'configurations:\n  site:\n    properties:\n      a: { type: button, button_text: Go, callback_url: /a/%2e%2e/../x }\n',
    says: ['11:57 error the path "/a/%2e%2e/../x" has "." or ".." segments'],
  },
  'a directive that is a list': {
    add: 'contentSecurityPolicy:\n  img-src: [a.example]\n',
    says: ['9:12 error "contentSecurityPolicy" › "img-src" must be text or nothing, found a list'],
  },
  'a directive that holds a word': {
    add: `contentSecurityPolicy: "img-src 'self' self"\n`,
    says: ['8:24 error the directive "img-src" holds "self", which is no source'],
  },
  'a directive that holds another policy': {
    add: `contentSecurityPolicy:\n  img-src: "'self', script-src *"\n`,
    says: ['9:12 error the values of "img-src" hold a comma'],
  },
  'a number in place of text': {
    add: 'summary: 1.10 # x\n',
    says: ['8:10 error "summary" must be text, found a number 1.1', 'hint: put it in quotes: "1.10"'],
  },
  'an infinite number in place of text': {
    add: 'summary: .inf\n',
    says: ['8:10 error "summary" must be text, found a number Infinity', 'hint: put it in quotes: ".inf"'],
  },
  'true among the values of an enum': {
    add: 'configurations:\n  account:\n    properties:\n      a: { type: string, enum: [true] }\n',
    says: ['11:33 error', '"enum" no. 1 must be text, found true', 'hint: put it in quotes: "true"'],
  },
  'a comment in place of a value': {
    add: 'summary: #ff0000\n',
    says: [
      '8:10 error "summary" must be text, found nothing',
      'hint: "#" begins a comment; put the value in quotes: "#ff0000"',
    ],
  },
  'a default that would be rounded': {
    add: 'configurations:\n  account:\n    properties:\n      a: { type: number, default: 9007199254740993 }\n',
    says: ['11:35 error', '"default" must lie within ±9007199254740991\n'],
  },
  'an infinite default': {
    add: 'configurations:\n  account:\n    properties:\n      a: { type: number, default: -.inf }\n',
    says: ['11:35 error', '"default" must be a finite number, found a number -Infinity'],
  },
  'an internal scope of a stranger': {
    add: '  - site:script:inject\n',
    says: [
      '8:5 error the scope "site:script:inject" is internal: only integrations of the organization "home" may have it',
    ],
  },
}

for (const [what, { add, says }] of Object.entries(wrong)) {
  test(`${what} is one error with its position and the allowed values`, async (t) => {
    const base = what.includes('stranger') ? sound.replace('home', 'acme') : sound
    const reading = await read(t, base + add)
    const texts = textsOf(reading)
    assert.equal(texts.length, 1, texts.join('\n\n'))
    assert.ok(texts.join().startsWith('service-manifest.yaml:'), texts.join())
    for (const part of says) assert.ok(texts.join().includes(part), `${part}\nis not in\n${texts.join()}`)
    assert.equal(reading.manifest, undefined)
  })
}

test('a problem is shown with its lines and carets', async (t) => {
  assert.deepEqual(textsOf(await read(t, sound.replace('private', 'pubic'))), [
    `service-manifest.yaml:5:13 error "visibility" cannot be "pubic"
  3 | description: A sample.
  4 | organization: home
  5 | visibility: pubic
    |             ^^^^^
  6 | scopes:
  hint: did you mean "public"? allowed: private, unlisted, public`,
  ])
})

test('a summary may have 2048 characters of any size', async (t) => {
  assert.deepEqual(textsOf(await read(t, `${sound}summary: "${'😀'.repeat(2048)}"\n`)), [])
})

test('internal scopes are for the operator’s exact subdomain or id', async (t) => {
  const scoped = (organization: string) => `${sound.replace('home', organization)}  - site:script:cookies\n`
  const errors = async (organization: string) =>
    (await read(t, scoped(organization))).problems.filter(({ severity }) => severity === 'error')
  assert.deepEqual(await errors('home'), [])
  assert.deepEqual(await errors('org_1'), [])
  assert.equal((await errors('Home')).length, 1)
})

/** A policy, what its warnings say, and what remains of it. */
const meaningless: Record<string, { policy: string; says: string[]; keeps: object }> = {
  'unknown, in a map': {
    policy: '\n  img-srcs: "*"\n  font-src: a.example',
    says: ['9:3 warning unknown directive "img-srcs": it is left out', 'hint: did you mean "img-src"?'],
    keeps: { 'font-src': 'a.example' },
  },
  'unknown, inside another': {
    policy: `\n  img-src: "'self'; script-srcs *, x"`,
    says: ['9:3 warning unknown directive "script-srcs"', 'hint: did you mean "script-src"?'],
    keeps: { 'img-src': "'self'" },
  },
  'reserved for the host, on its own line': {
    policy: ' |\n  img-src a.example\n  report-uri /log\n  font-src b.example',
    says: ['8:24 warning unknown directive "report-uri"'],
    keeps: { 'img-src': 'a.example', 'font-src': 'b.example' },
  },
  'with an impossible name': {
    policy: '\n  img_src: a.example\n  font-src: b.example',
    says: ['9:3 warning the name cannot be "img_src"'],
    keeps: { 'font-src': 'b.example' },
  },
  'empty, in a map': {
    policy: '\n  img-src: ""\n  font-src: b.example',
    says: ['9:3 warning the directive "img-src" has no source: it is left out', "or write 'none'"],
    keeps: { 'font-src': 'b.example' },
  },
  'without a value': {
    policy: '\n  img-src:\n  font-src: b.example',
    says: ['9:3 warning the directive "img-src" has no source'],
    keeps: { 'font-src': 'b.example' },
  },
  'empty, in a text': {
    policy: ' "img-src; font-src b.example"',
    says: ['8:24 warning the directive "img-src" has no source'],
    keeps: { 'font-src': 'b.example' },
  },
  'given twice, in another case': {
    policy: '\n  img-src: a.example\n  IMG-SRC: "*"',
    says: ['10:3 warning the directive "img-src" is given twice'],
    keeps: { 'img-src': 'a.example' },
  },
}

for (const [what, { policy, says, keeps }] of Object.entries(meaningless)) {
  test(`a meaningless directive is one warning, and is dropped: ${what}`, async (t) => {
    const reading = await read(t, `${sound}contentSecurityPolicy:${policy}\n`)
    const texts = textsOf(reading)
    assert.equal(texts.length, 1, texts.join('\n\n'))
    for (const part of says) assert.ok(texts.join().includes(part), `${part}\nis not in\n${texts.join()}`)
    assert.ok(reading.manifest)
    assert.deepEqual(normalizeManifest(reading.manifest).contentSecurityPolicy, keeps)
    const asked = permissionsOf(reading.manifest).filter(({ kind }) => kind === 'directive')
    assert.deepEqual(
      asked.map(({ name }) => name),
      Object.entries(keeps)
        .map(([name, sources]) => `${name} ${sources}`)
        .sort(),
    )
  })
}

test('the directive without sources needs no value', async (t) => {
  for (const policy of [
    '\n  upgrade-insecure-requests:',
    '\n  Upgrade-Insecure-Requests: ""',
    ' "; ;upgrade-insecure-requests;"',
  ]) {
    const reading = await read(t, `${sound}contentSecurityPolicy:${policy}\n`)
    assert.deepEqual(textsOf(reading), [])
    assert.ok(reading.manifest)
    assert.deepEqual(normalizeManifest(reading.manifest).contentSecurityPolicy, {
      'upgrade-insecure-requests': '',
    })
  }
})

test('an external id of the operator’s organization names it, and other texts do not', async (t) => {
  const folder = (organization: string) =>
    createFolder(t, {
      'service-manifest.yaml': `${sound.replace('home', organization)}  - site:script:inject\nsecrets:\n  KEY: \${{ env.LINEAR_CLIENT_ID }}\n`,
    })
  const given = { ...options, operatorExternalIds: ['ext-home'] }
  const problems = async (organization: string, more = {}) =>
    (await readManifest(await folder(organization), { ...given, ...more })).problems
  assert.deepEqual(await problems('ext-home'), [])
  for (const organization of ['Ext-home', 'ext-hom', 'ext-home2', 'acme']) {
    const found = await problems(organization)
    assert.deepEqual(
      found.map(({ line, severity }) => [line, severity]),
      [
        [8, 'error'],
        [10, 'error'],
      ],
    )
    assert.doesNotMatch(found.map(({ hint }) => hint).join(), /A server also knows/)
  }
  const withoutServer = await problems('ext-of-home', { isWithoutServer: true })
  assert.deepEqual(
    withoutServer.map(({ severity }) => severity),
    ['warning', 'warning'],
  )
  for (const { hint } of withoutServer)
    assert.match(hint ?? '', /A server also knows the id and the external ids of "home"/)
})

test('a scope that the other platform removed is a warning, and is dropped', async (t) => {
  const reading = await read(t, `${sound}  - space:visitor:auth\n  - site:visitor:auth\n`)
  const text = '8:5 warning the scope "space:visitor:auth" permits nothing any more: it is left out'
  assert.match(textsOf(reading).join(), new RegExp(text))
  assert.deepEqual(reading.manifest?.scopes, ['site:views:read', 'site:visitor:auth'])
})

test('a scope without effect is a warning, and stays', async (t) => {
  const without = [...scopesWithoutEffect]
  const reading = await read(t, `${sound}${without.map((scope) => `  - ${scope}\n`).join('')}`)
  assert.deepEqual(
    textsOf(reading).map((text) => text.split('\n')[0]),
    without.map(
      (scope, index) =>
        `service-manifest.yaml:${8 + index}:5 warning the scope "${scope}" has no effect yet: it opens nothing`,
    ),
  )
  assert.deepEqual(reading.manifest?.scopes, ['site:views:read', ...without])
})

test('all errors are reported at once, in the order of the file', async (t) => {
  const reading = await read(
    t,
    `name: A_b
description: 5
organization: acme
visibility: pubic
scopes: [nope, site:script:inject, site:views:read, site:views:read]
script: gone.ts
icon: gone.png
configurations:
  account:
    properties:
      a: { type: strin }
      b: { type: string, enum: [x], default: y }
    required: [a, c]
secrets:
  ONE: plain
  TWO: \${{ env.SECRET_KEY }}
`,
  )
  assert.deepEqual(
    reading.problems.map(({ line, message }) => `${line} ${message}`),
    [
      '1 "title" is missing',
      '1 "name" cannot be "A_b"',
      '2 "description" must be text, found a number 5',
      '4 "visibility" cannot be "pubic"',
      '5 "scopes" no. 1 cannot be "nope"',
      '5 the scope "site:script:inject" is internal: only integrations of the organization "home" may have it',
      '5 "site:views:read" is given twice',
      '6 the script "gone.ts" does not exist',
      '7 the image "gone.png" does not exist',
      '11 "configurations" › "account" › "properties" › "a" cannot be of type "strin"',
      '12 the default "y" is not among "enum"',
      '13 "required" names "c", which is not among the properties',
      '15 "secrets" › "ONE" cannot be "plain"',
      '16 the secret "TWO" may not read the environment variable SECRET_KEY: it is a setting of Annex itself',
    ],
  )
})

test('"envs" is accepted with a warning that it has no effect', async (t) => {
  const reading = await read(t, `${sound}envs:\n  test: { title: Test }\n`)
  assert.match(textsOf(reading).join(), /8:1 warning "envs" is understood, but nothing of it is applied yet/)
  assert.equal(hasErrors(reading.problems), false)
  assert.ok(reading.manifest)
})

test('a wrong value in "envs" is a warning', async (t) => {
  const reading = await read(
    t,
    `${sound}envs:\n  test: { visibility: pubic, titel: Test, title: 1 }\n  'a b': {}\n`,
  )
  const texts = textsOf(reading).join('\n')
  assert.match(texts, /9:23 warning "envs" › "test" › "visibility" cannot be "pubic"/)
  assert.match(texts, /9:30 warning unknown field "titel"/)
  assert.match(texts, /9:50 warning "envs" › "test" › "title" must be text/)
  assert.equal(hasErrors(reading.problems), false, texts)
  assert.deepEqual(JSON.parse(JSON.stringify(reading.manifest?.envs)), {})
  const list = await read(t, `${sound}envs: [test]\n`)
  assert.match(textsOf(list).join(), /8:7 warning "envs" must be a map, found a list/)
  assert.equal(list.manifest?.name, 'sample')
})

test('many warnings displace no error', async (t) => {
  const wrong = Array.from({ length: 60 }, (_, index) => `    titel${index}: x\n`).join('')
  const reading = await read(t, `envs:\n  test:\n${wrong}${sound.replace('private', 'pubic')}`)
  assert.equal(reading.problems.length, 50)
  assert.match(textsOf(reading).join('\n'), /67:13 error "visibility" cannot be "pubic"/)
  assert.equal(reading.manifest, undefined)
})

test('a folder without a manifest gets a hint with the missing or misspelled file', async (t) => {
  const missing = async (files: Record<string, string>) =>
    textsOf(await readManifest(await createFolder(t, files), options)).join('\n')
  const said = 'service-manifest.yaml:1:1 error the manifest does not exist\n  hint: '
  assert.equal(await missing({}), `${said}a plugin folder holds a service-manifest.yaml`)
  for (const name of [
    'service-manifest.yml',
    'Service-Manifest.yaml',
    'GitBook-manifest.YAML',
    'manifest.yaml',
  ]) {
    const hint = `"${name}" is there: rename it to service-manifest.yaml`
    assert.equal(await missing({ [name]: sound }), said + hint)
  }
  assert.match(await missing({ 'manifest\u001b[2J.yml': sound }), /"manifest\\x1b\[2J\.yml" is there/)
})
