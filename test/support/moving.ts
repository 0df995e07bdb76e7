import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ExportKey, openPassphrase } from '../../host/move/passphrase.ts'
import type { Annex, Json } from './annex.ts'

export const passphrase = 'correct horse battery staple'

const opened = new Map<string, Promise<ExportKey>>()

/** Half a second each, for whoever does not keep it. */
function openOnce(salt: string): Promise<ExportKey> {
  const found = opened.get(salt) ?? openPassphrase(passphrase, Buffer.from(salt, 'base64'))
  opened.set(salt, found)
  return found
}

const toHeader = (text: string) => ({ 'annex-passphrase': Buffer.from(text).toString('base64') })

type Served = Pick<Annex, 'url' | 'dataDir'>

/** `POST` with the passphrase, as the operator. */
export function post(annex: Served, path: string, body = '', given = passphrase): Promise<Response> {
  const token = readFileSync(join(annex.dataDir, 'cli.token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, ...toHeader(given) }
  return fetch(annex.url + path, { method: 'POST', headers, body })
}

export async function exportText(annex: Annex, id: string): Promise<string> {
  const response = await post(annex, `/v1/installations/${id}/export`)
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return text
}

export async function importText(annex: Served, text: string, query = ''): Promise<Json> {
  const response = await post(annex, `/v1/import${query}`, text)
  const answer = (await response.json()) as Json
  return { status: response.status, ...answer, code: answer.error?.code, message: answer.error?.message }
}

/**
 * The lines of an export without what is never the same: salt, proof, and which id an Annex gave its organization. What
 * is sealed is opened.
 */
export async function toComparable(text: string): Promise<Json[]> {
  const [header, ...records]: Json[] = toRecords(text)
  const { box } = await openOnce(header.salt)
  return records.map(({ hmac: _, sealed, ...record }) => ({
    ...record,
    ...(sealed && { sealed: JSON.parse(box.open(sealed)) }),
    ...(record.record === 'organization' && { id: 'its own' }),
  }))
}

export const toRecords = (text: string): Json[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

/** A file as somebody would write it who knows the passphrase: changed, with counts and proof that fit. */
export async function forge(text: string, change: (records: Json[], box: Json) => Json[]): Promise<string> {
  const all = toRecords(text)
  const key = await openOnce(all[0].salt)
  const records = change(all.slice(0, -1), key.box)
  const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('')
  const counts: Record<string, number> = {}
  for (const { record } of records.slice(1)) counts[record] = (counts[record] ?? 0) + 1
  const end = { record: 'end', counts, hmac: key.createProof().update(lines).digest('hex') }
  return `${lines}${JSON.stringify(end)}\n`
}
