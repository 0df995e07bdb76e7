import { useRoute } from 'preact-iso'
import { toJson } from '../../../../../schemas/describe-schema.ts'
import type { Operation } from '../../../../../schemas/list-operations.ts'
import type { Answer, Schema } from '../../../../../schemas/openapi.ts'
import { Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { readReference } from '../../reference/read-reference.ts'
import { formsOf } from '../../reference/to-reference.ts'
import { referenceTexts as words } from '../../texts/reference.ts'
import { useLoad } from '../../use-load.ts'
import { TryIt } from './try-it.tsx'
import { Method, Prose, TypeOf } from './words.tsx'

/** An operation: what it takes and answers, and a form that sends it. */
export default function OperationPage() {
  const { org = '', operation: id = '' } = useRoute().params
  const reference = useLoad('reference', readReference)
  return (
    <Loaded of={reference}>
      {(loaded) => {
        const [operation, ...others] = formsOf(loaded, id)
        return (
          <>
            <Head
              title={operation?.summary ?? id}
              crumbs={[
                { label: org, href: `/orgs/${org}` },
                { label: words.title, href: `/orgs/${org}/docs` },
                { label: operation?.summary ?? id },
              ]}
            >
              {operation && <Prose text={operation.description} />}
            </Head>
            {operation === undefined ? (
              <div class="empty">{words.unknownOperation(id)}</div>
            ) : (
              <Described key={id} org={org} operation={operation} others={others} />
            )}
          </>
        )
      }}
    </Loaded>
  )
}

type OfOperation = { org: string; operation: Operation }

const Described = ({ org, operation, others }: OfOperation & { others: readonly Operation[] }) => (
  <>
    <div>
      <Method {...operation} />
      <p class="muted small">{whoMayCall(operation)}</p>
    </div>
    <div class="two-columns reference-operation">
      <div class="column">
        <Parameters org={org} operation={operation} />
        {operation.body !== undefined && (
          <section>
            <h2>{words.body}</h2>
            <p>
              <TypeOf org={org} schema={operation.body} />
            </p>
          </section>
        )}
        <Answers org={org} operation={operation} />
        {others.length > 0 && (
          <section>
            <h2>{words.otherForms}</h2>
            <ul class="plain-list">
              {others.map((other) => (
                <li key={other.id}>
                  <a href={`/orgs/${org}/docs/${other.id}`}>
                    <Method {...other} />
                  </a>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
      <TryIt org={org} operation={operation} />
    </div>
  </>
)

const whoMayCall = ({ roles, scope, needsConfirmation }: Operation): string =>
  [
    roles.includes('anyone') ? words.anyone : words.roles(roles),
    ...(scope === undefined ? [] : [words.scope(scope)]),
    ...(needsConfirmation ? [words.confirmed] : []),
  ].join(' ')

function Parameters({ org, operation }: OfOperation) {
  const { pathParameters, queryParameters, headerParameters } = operation
  const all = [...pathParameters, ...queryParameters, ...headerParameters]
  if (all.length === 0) return null
  return (
    <section>
      <h2>{words.parameters}</h2>
      <Table
        label={words.parameters}
        rows={all}
        keyOf={({ name, in: place }) => `${place} ${name}`}
        columns={[
          { title: words.columns.parameter, kind: 'nowrap', cell: ({ name }) => <code>{name}</code> },
          { title: words.columns.place, kind: 'nowrap', cell: ({ in: place }) => place },
          {
            title: words.columns.type,
            cell: ({ schema }) => <TypeOf org={org} schema={schema} />,
          },
          {
            title: words.columns.meaning,
            kind: 'wide-cell',
            cell: ({ description = '' }) => <Prose text={description} />,
          },
        ]}
      />
    </section>
  )
}

function Answers({ org, operation: { answers, success } }: OfOperation) {
  const example = answers[success]?.content?.['application/json']?.example
  const rows = Object.entries(answers)
  return (
    <section>
      <h2>{words.answers}</h2>
      <AnswerTable org={org} label={words.answers} rows={rows.filter(isSuccess)} />
      {example !== undefined && (
        <details>
          <summary>{words.example}</summary>
          <pre>{toJson(example)}</pre>
        </details>
      )}
      <details>
        <summary>{words.errors}</summary>
        <AnswerTable org={org} label={words.errors} rows={rows.filter((row) => !isSuccess(row))} />
      </details>
    </section>
  )
}

type AnswerRow = readonly [status: string, Answer]
type AnswerRows = { org: string; label: string; rows: readonly AnswerRow[] }

const isSuccess = ([status]: AnswerRow): boolean => /^[23]/.test(status)

const AnswerTable = ({ org, label, rows }: AnswerRows) => (
  <Table
    label={label}
    rows={rows}
    keyOf={([status]) => status}
    columns={[
      { title: words.columns.status, kind: 'nowrap', cell: ([status]) => <code>{status}</code> },
      {
        title: words.columns.answer,
        kind: 'wide-cell',
        cell: (row) => (
          <>
            <Prose text={row[1].description} /> {isSuccess(row) && <AnswerType org={org} answer={row[1]} />}
          </>
        ),
      },
    ]}
  />
)

function AnswerType({ org, answer: { content = {} } }: { org: string; answer: Answer }) {
  const [first] = Object.entries(content)
  if (first === undefined) return null
  const [type, { schema }] = first
  return type === 'application/json' && schema !== undefined ? (
    <TypeOf org={org} schema={schema as Schema} />
  ) : (
    <code>{type}</code>
  )
}
