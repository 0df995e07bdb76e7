import type { LogLine } from '../../../../../schemas/generated/api/logs.ts'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { dispatchTexts } from '../../texts/dispatches.ts'

const texts = dispatchTexts.page

/** The log lines of a dispatch, in their order. Annex has turned positions into the author's files and lines. */
export const Lines = ({ lines, hasMore }: { lines: readonly LogLine[]; hasMore: boolean }) => (
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
            { title: texts.lineColumns.at, kind: 'nowrap', cell: ({ at }) => <Time at={at} /> },
          ]}
        />
        {hasMore && <p class="until">{texts.moreLines}</p>}
      </>
    )}
  </section>
)
