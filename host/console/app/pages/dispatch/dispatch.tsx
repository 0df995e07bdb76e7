import { useRoute } from 'preact-iso'
import { DeliveryTable } from '../../parts/delivery-table.tsx'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Outcome } from '../../parts/outcome.tsx'
import { Loaded } from '../../parts/state.tsx'
import { dispatchTexts } from '../../texts/dispatches.ts'
import { useLoad } from '../../use-load.ts'
import { Facts } from './facts.tsx'
import { Lines } from './lines.tsx'
import { type ReadDispatch, readDispatch } from './read-dispatch.ts'
import { Requests } from './requests.tsx'

const texts = dispatchTexts.page
/** Lines and deliveries of a dispatch may come later than its receipt. */
const everyMs = 5_000

/** One way through: what set a dispatch off, its outbound requests, its log, its deliveries. */
export default function DispatchPage() {
  const { org = '', dispatch: id = '' } = useRoute().params
  const read = useLoad(`dispatch ${org} ${id}`, (signal) => readDispatch(org, id, signal), everyMs)
  const { receipts = [] } = read.value ?? {}
  const [first] = receipts
  const thrown = read.value?.lines.findLast(({ level }) => level === 'error')
  // A failed one is what a person looks for.
  const failed = receipts.find(({ outcome }) => outcome !== 'ok' && outcome !== 'no_handler')
  const shown = failed ?? first
  return (
    <>
      <Head
        title={first ? dispatchTexts.one(first.type) : texts.title}
        crumbs={[
          { label: org, href: `/orgs/${org}` },
          { label: dispatchTexts.title, href: `/orgs/${org}/dispatches` },
          { label: first ? dispatchTexts.typeOf(first.type) : id },
        ]}
        state={shown && <Outcome code={shown.outcome} />}
      >
        {shown && dispatchTexts.sentence(shown.outcome)}
      </Head>
      <Loaded of={read} isEmpty={isNothing} empty={<p>{texts.gone}</p>}>
        {({ receipts, lines, hasMoreLines, deliveries, runs }) => (
          <>
            {failed && thrown && (
              <div class="note bad">
                <Icon name="warning" />
                <code class="log-line detail" dir="auto">
                  {thrown.text}
                </code>
              </div>
            )}
            {receipts.length === 0 && (
              <div class="note">
                <Icon name="note" />
                <div>{texts.noReceipt}</div>
              </div>
            )}
            {receipts.map((receipt, at) => (
              <section key={receipt.id} class="dispatch">
                {receipts.length > 1 && (
                  <h2 class="row">
                    {texts.ofMany(at + 1, receipts.length)} <Outcome code={receipt.outcome} />
                  </h2>
                )}
                <Facts org={org} receipt={receipt} runs={runs} />
                <Requests receipt={receipt} />
              </section>
            ))}
            <Lines
              lines={lines}
              hasMore={hasMoreLines}
              startedAt={receipts.length === 1 ? first?.startedAt : undefined}
            />
            <section>
              <h2>{dispatchTexts.page.deliveries}</h2>
              {deliveries.length > 0 ? (
                <DeliveryTable org={org} rows={deliveries} />
              ) : (
                <p class="muted">{whyNone(receipts, runs)}</p>
              )}
            </section>
          </>
        )}
      </Loaded>
    </>
  )
}

const isNothing = ({ receipts, lines, deliveries }: ReadDispatch): boolean =>
  receipts.length + lines.length + deliveries.length === 0

/** A handler that runs again for its event gets the deliveries of its first run. */
function whyNone(receipts: ReadDispatch['receipts'], runs: number): string {
  if (receipts.every(({ deliveries }) => deliveries === 0)) return texts.noDelivery
  return runs > 1 ? texts.earlier : texts.deliveriesGone
}
