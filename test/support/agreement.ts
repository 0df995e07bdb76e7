import type { Annex } from './annex.ts'

/** The words of an agreement to the deployed version, as an installer who has read it sends them. */
export async function agreementTo(
  annex: Pick<Annex, 'api'>,
  integration: string,
  token?: string,
): Promise<{ version: number; scopes: string[] }> {
  const { status, text, json } = await annex.api('GET', `/v1/integrations/${integration}`, undefined, token)
  if (status !== 200) throw new Error(`read ${integration}: ${text}`)
  return { version: json.version.number, scopes: json.scopes }
}
