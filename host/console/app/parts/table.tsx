import type { ComponentChildren } from 'preact'

export type Column<Row> = {
  title: string
  cell: (row: Row) => ComponentChildren
  kind?: 'nowrap' | 'wide-cell' | 'number'
}

/** A real table. On the screen of a phone each row is a block, with the titles beside its cells. */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
}: {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard scrolls the box
    <section class="scroll" aria-label={label} tabIndex={0}>
      <table class="records">
        <thead>
          <tr>
            {columns.map(({ title, kind }) => (
              <th key={title} scope="col" class={kind === 'number' ? kind : ''}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, cell, kind }) => (
                <td key={title} class={kind ?? ''} data-title={title}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
