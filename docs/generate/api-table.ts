import type { Api } from '../../schemas/api.ts'
import type { Operation } from '../../schemas/list-operations.ts'

/** The operations of the API in Markdown: a table for each resource, with a row for each operation. */
export function createApiTable({ document, operations }: Api): string {
  const byTag = Map.groupBy(operations, ({ tag }) => tag)
  const sections = document.tags.map(({ name, description }) => {
    const rows = (byTag.get(name) ?? []).map(toRow)
    return `### ${name}\n\n${description}\n\n| operation | | roles | scope |\n|---|---|---|---|\n${rows.join('\n')}`
  })
  return sections.join('\n\n')
}

function toRow({ method, path, summary, roles, scope }: Operation): string {
  const allowed = roles.includes('anyone') ? 'without a token' : roles.join(', ')
  return `| \`${method} ${path}\` | ${summary} | ${allowed} | ${scope === undefined ? '' : `\`${scope}\``} |`
}
