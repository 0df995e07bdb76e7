import { useRoute } from 'preact-iso'
import { fieldsOf } from '../../../../../schemas/describe-schema.ts'
import type { OpenApi, Schema } from '../../../../../schemas/openapi.ts'
import { Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { readReference } from '../../reference/read-reference.ts'
import { referenceTexts as words } from '../../texts/reference.ts'
import { useLoad } from '../../use-load.ts'
import { Prose, TypeOf } from './words.tsx'

/** A record of the API, with its fields. */
export default function RecordPage() {
  const { org = '', record: name = '' } = useRoute().params
  const reference = useLoad('reference', readReference)
  return (
    <>
      <Head
        title={name}
        crumbs={[
          { label: org, href: `/orgs/${org}` },
          { label: words.title, href: `/orgs/${org}/docs` },
          { label: name },
        ]}
      />
      <Loaded of={reference}>
        {({ document, records }) => {
          const schema = records.find(([one]) => one === name)?.[1]
          return schema === undefined ? (
            <div class="empty">{words.unknownRecord(name)}</div>
          ) : (
            <Fields org={org} schema={schema} document={document} />
          )
        }}
      </Loaded>
    </>
  )
}

function Fields({ org, schema, document }: { org: string; schema: Schema; document: OpenApi }) {
  const fields = fieldsOf(schema, document)
  return (
    <>
      {typeof schema.description === 'string' && (
        <p>
          <Prose text={schema.description} />
        </p>
      )}
      {fields.length === 0 ? (
        <p>
          <TypeOf org={org} schema={schema} />
        </p>
      ) : (
        <Table
          label={words.fields}
          rows={fields}
          keyOf={({ name }) => name}
          columns={[
            {
              title: words.columns.field,
              cell: ({ name, isRequired }) => (
                <>
                  <code>{name}</code> {!isRequired && <span class="muted small">{words.optional}</span>}
                </>
              ),
            },
            {
              title: words.columns.type,
              kind: 'wide-cell',
              cell: ({ schema: inner }) => <TypeOf org={org} schema={inner} />,
            },
            {
              title: words.columns.meaning,
              kind: 'wide-cell',
              cell: ({ schema: inner }) => <Prose text={`${inner.description ?? ''}`} />,
            },
          ]}
        />
      )}
    </>
  )
}
