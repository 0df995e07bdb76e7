import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { loadApi } from '../../schemas/api.ts'
import { levelOperations } from '../../schemas/generated/api/operations.ts'
import { readApiFiles } from '../../schemas/read-api-files.ts'
import type { Json } from '../support/annex.ts'

const common = {
  $id: 'common',
  title: 'Common',
  description: 'What files share.',
  parameters: {
    Limit: { name: 'limit', in: 'query', schema: { type: 'integer' } },
    Thing: { name: 'thing', in: 'path', required: true, schema: { type: 'string' } },
    IfMatch: { name: 'If-Match', in: 'header', schema: { type: 'string' } },
  },
  headers: { ETag: { schema: { type: 'string' } } },
  responses: { Conflict: { description: 'It is taken.' } },
}
const text = (description: string) => ({ description, type: 'string' })
const address = 'PATCH /v1/things/{thing}/parts/{part}'
const levelAddress = 'GET /v1/installations/{installation}/parts'
const createThings = (): Json => ({
  $id: 'things',
  title: 'Things',
  description: 'Things and their parts.',
  params: { part: text('The id of a part.'), site: text('Its id.'), space: text('Its id.') },
  operations: {
    [address]: {
      id: 'changePart',
      summary: 'Change a part',
      scope: 'thing:write',
      roles: ['editor'],
      query: ['Limit', { name: 'kind', description: 'Its kind.', schema: 'Kind' }],
      headers: ['IfMatch'],
      body: { schema: 'Part', required: false, example: {} },
      maxBodyBytes: 10,
      answers: {
        '200': { schema: 'Part', description: 'The part.', headers: ['ETag'] },
        '204': { description: 'It was gone.' },
        '303': { description: 'Its page.', type: 'text/html' },
        '409': 'Conflict',
      },
    },
    [levelAddress]: {
      id: 'list{Level}Parts',
      levels: true,
      summary: 'List the parts of {a level}',
      roles: ['reader'],
      params: { installation: text('Its id.') },
      answers: { '200': { schema: 'Part', description: 'The {level}.' } },
    },
  },
  $defs: { Kind: { type: 'string' }, Part: { type: 'object' } },
})

/** Reads these files as those of schemas/api. A text is the content of a file. */
function read(t: TestContext, ...files: (Json | string)[]) {
  const folder = mkdtempSync(join(tmpdir(), 'annex-api-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const file of [common, ...files]) {
    const isText = typeof file === 'string'
    const name = isText ? 'things' : file.$id
    writeFileSync(join(folder, `${name}.schema.json`), isText ? file : JSON.stringify(file))
  }
  return readApiFiles(folder).find(({ $id }) => $id === 'things')
}

describe('a short operation', () => {
  it('becomes an OpenAPI operation', (t) => {
    const { paths = {} } = read(t, createThings()) ?? {}
    assert.deepEqual(paths['/v1/things/{thing}/parts/{part}']?.patch, {
      operationId: 'changePart',
      summary: 'Change a part',
      'x-annex-scope': 'thing:write',
      'x-annex-roles': ['editor'],
      'x-annex-max-body-bytes': 10,
      parameters: [
        { $ref: '#/parameters/Thing' },
        {
          name: 'part',
          in: 'path',
          required: true,
          description: 'The id of a part.',
          schema: { type: 'string' },
        },
        { $ref: '#/parameters/Limit' },
        { name: 'kind', in: 'query', description: 'Its kind.', schema: { $ref: '#/$defs/Kind' } },
        { $ref: '#/parameters/IfMatch' },
      ],
      requestBody: { content: { 'application/json': { schema: { $ref: '#/$defs/Part' }, example: {} } } },
      responses: {
        '200': {
          description: 'The part.',
          headers: { ETag: { $ref: '#/headers/ETag' } },
          content: { 'application/json': { schema: { $ref: '#/$defs/Part' } } },
        },
        '204': { description: 'It was gone.' },
        '303': { description: 'Its page.', content: { 'text/html': { schema: { type: 'string' } } } },
        '409': { $ref: '#/responses/Conflict' },
      },
    })
  })

  it('has three addresses if it belongs to levels', (t) => {
    const file = read(t, createThings())
    const paths = Object.entries(file?.paths ?? {}).filter(([path]) => path.startsWith('/v1/installations'))
    assert.deepEqual(
      paths.map(([path, { get }]) => [
        path,
        get?.operationId,
        get?.summary,
        get?.responses['200']?.description,
      ]),
      [
        ['', 'listInstallationParts', 'List the parts of an installation', 'The installation.'],
        [
          '/sites/{site}',
          'listSiteInstallationParts',
          'List the parts of a site installation',
          'The site installation.',
        ],
        [
          '/spaces/{space}',
          'listSpaceInstallationParts',
          'List the parts of a space installation',
          'The space installation.',
        ],
      ].map(([path, ...rest]) => [`/v1/installations/{installation}${path}/parts`, ...rest]),
    )
    assert.deepEqual(file?.levelOperations, {
      [levelAddress]: {
        account: 'listInstallationParts',
        site: 'listSiteInstallationParts',
        space: 'listSpaceInstallationParts',
      },
    })
  })

  it('can state fields of one level', (t) => {
    const things = createThings()
    const own = { id: 'listPartsOfSite', summary: 'List parts of a site', roles: ['admin'] }
    things.operations[levelAddress].levels = { site: own, space: {} }
    const paths = read(t, things)?.paths ?? {}
    const { get } = paths['/v1/installations/{installation}/sites/{site}/parts'] ?? {}
    assert.deepEqual([get?.operationId, get?.summary, get?.['x-annex-roles']], Object.values(own))
  })
})

describe('a mistake in a file of schemas/api', () => {
  const operation =
    (edit: (operation: Json) => void, of = address) =>
    (things: Json) =>
      edit(things.operations[of])
  const at = `things.schema.json: ${address}: `
  const mistakes: [string, (things: Json) => void, string][] = [
    [
      'an unknown field',
      operation((one) => Object.assign(one, { sumary: '' })),
      `${at}sumary is not a known field`,
    ],
    ['a missing field', operation((one) => delete one.roles), `${at}roles is missing`],
    ['a wrong type', operation((one) => Object.assign(one, { roles: 'editor' })), `${at}roles must be array`],
    [
      'an unknown role',
      operation((one) => one.roles.push('owner')),
      `${at}roles/1 must be one of "reader", `,
    ],
    [
      'no role',
      operation((one) => Object.assign(one, { roles: [] })),
      `${at}roles must NOT have fewer than 1 items`,
    ],
    [
      'an empty summary',
      operation((one) => Object.assign(one, { summary: '' })),
      `${at}summary must match pattern`,
    ],
    [
      'an unknown word',
      operation((one) => Object.assign(one, { summary: '{a levle}' })),
      `${at}summary must match pattern`,
    ],
    [
      'an id with a space',
      operation((one) => Object.assign(one, { id: 'a b' })),
      `${at}id must match pattern`,
    ],
    [
      'a wrong status',
      operation((one) => Object.assign(one.answers, { 20: 'Conflict' })),
      `${at}answers: "20" is not a status from 200 to 599`,
    ],
    [
      'an unknown field of an answer',
      operation((one) => Object.assign(one.answers['200'], { schma: '' })),
      `${at}answers/200/schma is not a known field`,
    ],
    [
      'an unknown response',
      operation((one) => Object.assign(one.answers, { 409: 'Conflct' })),
      `${at}answers/409: no file of schemas/api has "Conflct" in its responses`,
    ],
    [
      'an unknown schema of an answer',
      operation((one) => Object.assign(one.answers['200'], { schema: 'Prt' })),
      `${at}answers/200/schema: no file of schemas/api has "Prt" in its $defs`,
    ],
    [
      'an example without a schema',
      operation((one) => Object.assign(one.answers['204'], { example: {} })),
      `${at}answers/204/example: needs a schema`,
    ],
    [
      'JSON without a named schema',
      operation((one) => Object.assign(one.answers['200'], { schema: {} })),
      `${at}answers/200/schema: name a schema`,
    ],
    [
      'an unknown header',
      operation((one) => Object.assign(one.answers['200'], { headers: ['Etag'] })),
      `${at}answers/200/headers: no file of schemas/api has "Etag" in its headers`,
    ],
    [
      'an unknown schema of a body',
      operation((one) => Object.assign(one, { body: 'Prt' })),
      `${at}body: no file of schemas/api has "Prt" in its $defs`,
    ],
    [
      'a name of Object.prototype',
      operation((one) => Object.assign(one, { body: 'constructor' })),
      `${at}body: no file of schemas/api has "constructor" in its $defs`,
    ],
    [
      'an unknown parameter',
      operation((one) => one.query.push('limit')),
      `${at}query/2: no file of schemas/api has "limit" in its parameters`,
    ],
    [
      'a parameter twice',
      operation((one) => one.query.push('Limit')),
      `${at}query must NOT have duplicate items`,
    ],
    [
      'a parameter of the path in the query',
      operation((one) => one.query.push('Thing')),
      `${at}query/2: the parameter Thing is one of the path, not of the query`,
    ],
    [
      'a parameter of the query in the headers',
      operation((one) => one.headers.push('Limit')),
      `${at}headers/1: the parameter Limit is one of the query, not of the header`,
    ],
    [
      'an unknown keyword of a parameter',
      operation((one) => Object.assign(one.query[1], { maxLenght: 1 })),
      `${at}query/1/maxLenght is not a known field`,
    ],
    [
      'an unknown schema of a parameter',
      operation((one) => Object.assign(one.query[1], { schema: 'Knd' })),
      `${at}query/1/schema: no file of schemas/api has "Knd" in its $defs`,
    ],
    [
      'a parameter that the path lacks',
      operation((one) => Object.assign(one, { params: { prt: 'Thing' } })),
      `${at}params/prt: the path has no such parameter`,
    ],
    [
      'an undescribed parameter of the path',
      (things) => Object.assign(things, { params: {} }),
      `${at}params/part: nothing describes this parameter`,
    ],
    [
      'a word of levels without levels',
      operation((one) => delete one.levels, levelAddress),
      `things.schema.json: ${levelAddress}: levels: is missing, and {Level} needs it`,
    ],
    [
      'levels of a path without an installation',
      operation((one) => Object.assign(one, { levels: true })),
      `${at}levels: the path needs {installation}`,
    ],
    [
      'levels with one id',
      operation((one) => Object.assign(one, { id: 'listParts' }), levelAddress),
      `things.schema.json: ${levelAddress}: id: GET /v1/installations/{installation}/parts has the id listParts, too`,
    ],
    [
      'only one level',
      operation((one) => Object.assign(one, { levels: { site: {} } }), levelAddress),
      `things.schema.json: ${levelAddress}: levels/space is missing`,
    ],
    [
      'an unknown field of a level',
      operation((one) => Object.assign(one, { levels: { site: { scope: '' }, space: {} } }), levelAddress),
      `things.schema.json: ${levelAddress}: levels/site/scope is not a known field`,
    ],
    [
      'an address that levels already have',
      (things) =>
        Object.assign(things.operations, {
          'GET /v1/installations/{installation}/sites/{site}/parts': {
            ...things.operations[address],
            id: 'other',
          },
        }),
      'sites/{site}/parts, too',
    ],
    [
      'an unknown method',
      (things) => Object.assign(things.operations, { 'GETS /v1': things.operations[address] }),
      'things.schema.json: operations: "GETS /v1" is not a method and a path, as in ',
    ],
    [
      'a method in lower case',
      (things) => Object.assign(things.operations, { 'get /v1': things.operations[address] }),
      'operations: "get /v1" is not a method and a path',
    ],
    [
      'an open brace',
      (things) => Object.assign(things.operations, { 'GET /v1/{a': things.operations[address] }),
      'operations: "GET /v1/{a" is not a method and a path',
    ],
    [
      'an address without a path',
      (things) => Object.assign(things.operations, { 'GET ': things.operations[address] }),
      'operations: "GET " is not a method and a path',
    ],
    [
      'an unknown section',
      (things) => Object.assign(things, { paths: {} }),
      'things.schema.json: paths is not a known field',
    ],
    ['a missing title', (things) => delete things.title, 'things.schema.json: title is missing'],
  ]
  for (const [name, edit, error] of mistakes) {
    it(`is an error with its position: ${name}`, (t) => {
      const things = createThings()
      edit(things)
      assert.throws(
        () => read(t, things),
        ({ message }: Error) => {
          assert.ok(
            message.startsWith('schemas/api/things.schema.json: ') && message.includes(error),
            message,
          )
          return true
        },
      )
    })
  }

  it('is an error with its file: not JSON, empty, another $id, a repeated id', (t) => {
    assert.throws(() => read(t, '{ "a": }'), /^Error: schemas\/api\/things\.schema\.json: this is not JSON: /)
    assert.throws(() => read(t, ''), /^Error: schemas\/api\/things\.schema\.json: this is not JSON: /)
    assert.throws(() => read(t, '[]'), /^Error: schemas\/api\/things\.schema\.json: must be object$/)
    const other = JSON.stringify({ ...createThings(), $id: 'thing' })
    assert.throws(() => read(t, other), /things\.schema\.json: \$id must be things$/)
    const again = {
      ...common,
      $id: 'more',
      operations: { 'GET /v1': { ...createThings().operations[address], query: [] } },
    }
    assert.throws(
      () => read(t, createThings(), again),
      /things\.schema\.json: PATCH .*: id: GET \/v1 has the id changePart, too$/,
    )
  })
})

it('the table of levels has three operations with one address each', () => {
  const operations = new Map(loadApi().operations.map((operation) => [operation.id, operation]))
  assert.ok(Object.keys(levelOperations).length > 10)
  for (const [address, { account, site, space }] of Object.entries(levelOperations)) {
    const addresses = [account, site, space].map((id) => {
      const { method, path } = operations.get(id) ?? {}
      return `${method} ${path}`
    })
    const of = (level: string) => address.replace('{installation}', `{installation}${level}`)
    assert.deepEqual(addresses, [address, of('/sites/{site}'), of('/spaces/{space}')])
  }
})
