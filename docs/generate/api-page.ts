import { readFileSync } from 'node:fs'
import MarkdownIt from 'markdown-it'
import type { Api } from '../../schemas/api.ts'
import { fieldsOf, nameOf, toJson, toLimits } from '../../schemas/describe-schema.ts'
import { levelOperations } from '../../schemas/generated/api/operations.ts'
import type { Operation } from '../../schemas/list-operations.ts'
import type { Answer, OpenApi, Schema } from '../../schemas/openapi.ts'

const markdown = new MarkdownIt()
/** Text with Markdown, as descriptions have it. */
const inline = (text: string): string => markdown.renderInline(text)
const escapeText = (text: string): string => markdown.utils.escapeHtml(text)
const code = (text: string): string => `<code>${escapeText(text)}</code>`
const style = readFileSync(new URL('api-page.css', import.meta.url), 'utf8')

/** The site and space forms of operations of levels, by the id of the account's. */
const otherForms = new Map<string, string[]>(
  Object.values(levelOperations).map(({ account, site, space }) => [account, [site, space]]),
)

/** The whole API as one HTML page that needs no other file. */
export function createApiPage({ document, operations }: Api): string {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  const shown = [...otherForms.values()].flat()
  const byTag = Map.groupBy(
    operations.filter(({ id }) => !shown.includes(id)),
    ({ tag }) => tag,
  )
  const resources = document.tags.map((tag) => ({ ...tag, own: byTag.get(tag.name) ?? [] }))
  const records = Object.entries(document.components.schemas ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const sections = resources.map(
    ({ name, description, own }) => `<section id="${slug(name)}">
<h2>${escapeText(name)}</h2>
<p>${inline(description)}</p>
${own.map((operation) => toArticle(operation, formsOf(operation, byId))).join('\n')}
</section>`,
  )
  const navigation = resources.map(
    ({ name, own }) => `<details><summary><a href="#${slug(name)}">${escapeText(name)}</a></summary>
<ul>${own.map(({ id, summary }) => `<li><a href="#${id}">${escapeText(summary)}</a></li>`).join('')}</ul></details>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The API of Annex</title>
<style>${style}</style>
</head>
<body>
<nav aria-label="Resources">
<a class="home" href="#top">Annex API</a>
${navigation.join('\n')}
<a href="#records">Records</a>
</nav>
<main id="top">
<h1>The API of Annex</h1>
<p>REST with JSON. A request sends <code>Authorization: Bearer TOKEN</code>. <code>docs/api.md</code> explains lists, limits and errors;
<code>docs/errors.md</code> lists the codes. A server has the same reference as OpenAPI 3.1 at <code>/openapi.json</code>.</p>
${sections.join('\n')}
<section id="records">
<h2>Records</h2>
${records.map(([name, schema]) => toRecord(name, schema, document)).join('\n')}
</section>
</main>
</body>
</html>
`
}

const slug = (name: string): string => name.toLowerCase().replaceAll(' ', '-')

const formsOf = ({ id }: Operation, byId: ReadonlyMap<string, Operation>): Operation[] =>
  (otherForms.get(id) ?? []).flatMap((other) => byId.get(other) ?? [])

function toArticle(operation: Operation, others: readonly Operation[]): string {
  const { id, summary, description, body, answers } = operation
  const successes = Object.entries(answers).filter(([status]) => /^[23]/.test(status))
  const errors = Object.entries(answers).filter(([status]) => /^[45]/.test(status))
  return `<article id="${id}">
<h3><a href="#${id}">${escapeText(summary)}</a></h3>
${toAddress(operation)}
<p>${inline(description)}</p>
${toFacts(operation)}
${others.map((other) => toOther(other, operation)).join('\n')}
${toParameters(operation)}
<dl class="answers">
${body === undefined ? '' : `<dt>Body</dt><dd>${typeOf(body)}</dd>`}
${successes.map(([status, answer]) => `<dt>${status}</dt><dd>${inline(answer.description)} ${answerType(answer)}</dd>`).join('\n')}
${errors.map(([status, { description: text }]) => `<dt class="error">${status}</dt><dd>${inline(text)}</dd>`).join('\n')}
</dl>
${toExample(operation)}
</article>`
}

const toAddress = ({ method, path }: Operation): string =>
  `<p class="address"><b class="${method.toLowerCase()}">${method}</b> <code>${escapeText(path).replaceAll('/', '<wbr>/')}</code></p>`

const rolesOf = ({ roles }: Operation): string =>
  roles.includes('anyone') ? 'without a token' : `roles ${roles.join(', ')}`

function toFacts(operation: Operation): string {
  const scope = operation.scope === undefined ? '' : ` · scope ${code(operation.scope)}`
  return `<p class="facts">${rolesOf(operation)}${scope} · ${code(operation.id)}</p>`
}

/** A form for a site or a space: its address, and what differs from the form for the account. */
function toOther(other: Operation, account: Operation): string {
  const type = (operation: Operation) => {
    const success = operation.answers[operation.success]
    return success === undefined ? '' : answerType(success)
  }
  const facts = [
    code(other.id),
    ...(other.description === account.description ? [] : [inline(other.description)]),
    ...(rolesOf(other) === rolesOf(account) ? [] : [rolesOf(other)]),
    ...(type(other) === type(account) ? [] : [`answers ${type(other)}`]),
  ]
  return `<div id="${other.id}">${toAddress(other)}<p class="facts">${facts.join(' · ')}</p></div>`
}

function toParameters({ pathParameters, queryParameters, headerParameters }: Operation): string {
  const rows = [...pathParameters, ...queryParameters, ...headerParameters].map(
    ({ name, in: place, schema, description = '' }) =>
      `<tr><td>${code(name)}</td><td>${place}</td><td>${typeOf(schema)}</td><td>${inline(description)}</td></tr>`,
  )
  return rows.length === 0 ? '' : toTable(['parameter', 'in', 'type', ''], rows)
}

const toTable = (heads: readonly string[], rows: readonly string[]): string =>
  `<div class="table"><table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>`

function answerType({ content = {} }: Answer): string {
  const [[type, { schema }] = ['', {}]] = Object.entries(content) as [string, { schema?: Schema }][]
  if (type === '') return ''
  return type === 'application/json' && schema !== undefined ? typeOf(schema) : code(type)
}

function toExample({ method, path, body, bodyExample, answers, success }: Operation): string {
  const answer = answers[success]?.content?.['application/json']?.example
  if (answer === undefined && body === undefined) return ''
  const request = body === undefined ? [] : [`${method} ${path}`, toJson(bodyExample), '']
  const lines = [...request, `${success}`, ...(answer === undefined ? [] : [toJson(answer)])]
  return `<details class="example"><summary>Example</summary><pre><code>${escapeText(lines.join('\n'))}</code></pre></details>`
}

function toRecord(name: string, schema: Schema, document: OpenApi): string {
  const fields = fieldsOf(schema, document)
  const rows = fields.map(
    ({ name: field, schema: inner, isRequired }) =>
      `<tr><td>${code(field)}${isRequired ? '' : '<span title="optional">?</span>'}</td><td>${typeOf(inner)}</td><td>${inline(`${inner.description ?? ''}`)}</td></tr>`,
  )
  const content = rows.length === 0 ? `<p>${typeOf(schema)}</p>` : toTable(['field', 'type', ''], rows)
  return `<article id="record-${name}">
<h3><a href="#record-${name}">${name}</a></h3>
<p>${inline(`${schema.description ?? ''}`)}</p>
${content}
</article>`
}

/** A schema in a few words. A record is a link. */
function typeOf(schema: Schema): string {
  const { $ref, const: value, enum: values, anyOf, oneOf, items, properties } = schema
  if (typeof $ref === 'string') return `<a href="#record-${nameOf($ref)}">${nameOf($ref)}</a>`
  if (value !== undefined) return code(JSON.stringify(value))
  if (Array.isArray(values)) return values.map((one) => code(`${one}`)).join(', ')
  const choices: unknown = anyOf ?? oneOf
  if (Array.isArray(choices)) return choices.map(typeOf).join(' or ')
  if (items !== undefined) return `list of ${typeOf(items as Schema)}`
  if (properties === undefined) return escapeText(toLimits(schema))
  return `object: ${Object.keys(properties as object)
    .map(code)
    .join(', ')}`
}
