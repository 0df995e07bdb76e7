import { AnnexError } from '../../errors/annex-error.ts'
import { quoteValue } from '../../manifest/problems/visible-text.ts'
import { type Api, toPath } from '../client.ts'
import type { Installation, List } from '../records.ts'

type Named = { integration?: string; installation?: string; endpoint?: string }

/**
 * What a filter names has to be there: a list would be empty, and what follows would wait for ever, and neither would say why.
 *
 * @throws ApiError or AnnexError `not_found` that names what is not
 */
export async function assertThere(api: Api, { integration, installation, endpoint }: Named): Promise<void> {
  if (integration !== undefined) await api.get(toPath`/v1/integrations/${integration}`)
  if (installation !== undefined) await findInstallationById(api, installation)
  if (endpoint !== undefined) await api.get(toPath`/v1/endpoints/${endpoint}`)
}

/** @throws AnnexError `not_found` */
export async function findInstallationById(api: Api, id: string): Promise<Installation> {
  const { items } = await api.get<List<Installation>>('/v1/installations')
  const found = items.find((one) => one.id === id)
  if (found !== undefined) return found
  const text = `There is no installation ${quoteValue(id)} that this token may see. \`annex installations\` shows those that there are, with their ids.`
  throw new AnnexError('not_found', text)
}
