import type { OutboundRequest, ReceiptWithRequests } from '../../../../../schemas/generated/api/receipts.ts'
import { Table } from '../../parts/table.tsx'
import { dispatchTexts } from '../../texts/dispatches.ts'

const texts = dispatchTexts.page

/** The outbound requests of a dispatch, in their order. */
export function Requests({ receipt }: { receipt: ReceiptWithRequests }) {
  const { outboundRequests: rows, outboundRequestsLeftOut: leftOut, egressCalls, startedAt } = receipt
  const startedMs = Date.parse(startedAt)
  return (
    <section>
      <h2>{texts.requests}</h2>
      {rows.length === 0 ? (
        <p class="muted">{egressCalls === 0 ? texts.noRequest : texts.notKept(egressCalls)}</p>
      ) : (
        <>
          <Table
            label={texts.requests}
            rows={rows.map((request, at) => ({ ...request, at }))}
            keyOf={({ at }) => String(at)}
            columns={[
              {
                title: texts.requestColumns.request,
                kind: 'wide-cell',
                cell: (request) => <Address request={request} />,
              },
              {
                title: texts.requestColumns.result,
                kind: 'wide-cell',
                cell: (request) => <Result request={request} />,
              },
              {
                title: texts.requestColumns.time,
                kind: 'nowrap',
                cell: ({ ms }) => ms !== undefined && dispatchTexts.ms(ms),
              },
              {
                title: texts.requestColumns.after,
                kind: 'nowrap',
                cell: (request) => dispatchTexts.ms(Math.max(0, Date.parse(request.startedAt) - startedMs)),
              },
            ]}
          />
          <p class="until">
            {leftOut > 0 && `${texts.leftOut(leftOut)} `}
            {texts.noQuery}
          </p>
        </>
      )}
    </section>
  )
}

const Address = ({ request: { method, host, path, own } }: { request: OutboundRequest }) => (
  <span class="request-line">
    <code>
      {method} <bdi>{own ? path : host + path}</bdi>
    </code>
    {own && <span class="chip">{texts.own}</span>}
  </span>
)

function Result({ request: { status, error } }: { request: OutboundRequest }) {
  const isBad = error !== undefined || (status !== undefined && status >= 400)
  return (
    <>
      {status !== undefined && <span class={isBad ? 'bad-text' : ''}>{status}</span>}
      {error !== undefined && <div class="bad-text">{error.message}</div>}
      {status === undefined && error === undefined && texts.cut}
    </>
  )
}
