import type { LogLine } from '../../../../../schemas/generated/api/logs.ts'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { dispatchTexts } from '../../texts/dispatches.ts'

const texts = dispatchTexts.page

/** The log lines of a dispatch, in their order. Annex has turned positions into the author's files and lines. */
export const Lines = ({
  lines,
  hasMore,
  startedAt,
}: {
  lines: readonly LogLine[]
  hasMore: boolean
  /** When the dispatch began. Times are from there on. */
  startedAt: string | undefined
}) => (
  <section>
    <h2>{texts.log}</h2>
    {lines.length === 0 ? (
      <p class="muted">{texts.noLine}</p>
    ) : (
      <>
        <Table
          label={texts.log}
          rows={lines}
          keyOf={({ id }) => String(id)}
          columns={[
            {
              title: texts.lineColumns.level,
              kind: 'nowrap',
              cell: ({ level }) => <span class={level === 'error' ? 'bad-text' : ''}>{level}</span>,
            },
            {
              title: texts.lineColumns.text,
              kind: 'wide-cell',
              cell: ({ text }) => (
                <code class="log-line" dir="auto">
                  {text}
                </code>
              ),
            },
            {
              title: startedAt === undefined ? texts.lineColumns.at : texts.lineColumns.after,
              kind: 'nowrap',
              cell: ({ at }) =>
                startedAt === undefined ? (
                  <Time at={at} />
                ) : (
                  <span title={at}>
                    {dispatchTexts.ms(Math.max(0, Date.parse(at) - Date.parse(startedAt)))}
                  </span>
                ),
            },
          ]}
        />
        {hasMore && <p class="until">{texts.moreLines}</p>}
      </>
    )}
  </section>
)
