import { api } from './api.ts'
import type { Installed, OwnInstallation } from './installed.ts'

/** What an organization has installed, by the name of the integration. */
export async function readInstalled(org: string, signal: AbortSignal): Promise<Map<string, Installed>> {
  const [problems, installed] = await Promise.all([
    api.call('GET /v1/problems', { signal }),
    readAll(org, signal),
  ])
  const waiting = new Map(
    problems.items
      .filter(({ kind }) => kind === 'waiting_version')
      .map(({ subject, sentence }) => [subject.id, sentence]),
  )
  for (const one of installed.values()) {
    const sentence = waiting.get(one.id)
    if (sentence !== undefined) one.waiting = sentence
  }
  return installed
}

async function readAll(org: string, signal: AbortSignal): Promise<Map<string, Installed>> {
  const installed = new Map<string, Installed>()
  const query = { organization: org }
  for await (const { id, integration, status } of api.all('GET /v1/installations', { query, signal }))
    installed.set(integration, { id, integration, status })
  return installed
}

/** The installation of one integration in an organization. @returns null without one */
export async function readInstallation(
  org: string,
  integration: string,
  signal: AbortSignal,
): Promise<OwnInstallation | null> {
  const query = { organization: org, integration, limit: 1 }
  const [installation] = (await api.call('GET /v1/installations', { query, signal })).items
  if (installation === undefined) return null
  const params = { integration, installation: installation.id }
  const address = 'GET /v1/integrations/{integration}/installations/{installation}/agreement'
  return { installation, agreement: await api.call(address, { params, signal }) }
}
