import { createClient } from '../../schemas/client.ts'
import { quantile } from '../bench/measure/quantile.ts'
import type { BenchedAnnex } from '../bench/servers/start-annex.ts'
import type { HonestAnswer } from './honest-load.ts'

/** What became of the honest requests of one phase. */
export type Phase = {
  name: string
  requests: number
  died: number
  failed: number
  p50Ms: number
  p99Ms: number
}

/** A slower honest answer is told as it comes, with the attacks of the moment. */
const slowMs = 250

/** A line for each second in which an honest request failed or was slow, with the attacks of the moment. */
export function tell(
  at: string,
  answers: HonestAnswer[],
  running: ReadonlySet<string>,
  note: (text: string) => void,
): void {
  const slow = answers.filter(({ ms, kind }) => kind === 'ok' && ms > slowMs)
  const died = answers.filter(({ kind }) => kind === 'died')
  const failed = answers.filter((answer) => answer.kind === 'failed')
  if (slow.length + died.length + failed.length === 0) return
  const slowest = Math.round(Math.max(0, ...slow.map(({ ms }) => ms)))
  const names = [...new Set([...slow, ...died, ...failed].map(({ name }) => name))].join(' ')
  const [first] = failed
  note(
    `${at}: ${answers.length} answers: ${slow.length} slow (${slowest} ms), ${died.length} died, ${failed.length} failed (${names})` +
      (first === undefined ? '' : ` first: ${first.name} ${first.why}`) +
      `; attacks: ${[...running].join(', ')}`,
  )
}

export function toPhase(name: string, answers: HonestAnswer[]): Phase {
  const times = answers.map(({ ms }) => ms)
  return {
    name,
    requests: answers.length,
    died: answers.filter(({ kind }) => kind === 'died').length,
    failed: answers.filter(({ kind }) => kind === 'failed').length,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
  }
}

/** Each kind of failure with what the log says of the first one, and how often it came. */
export async function explainFailures(
  annex: BenchedAnnex,
  answers: HonestAnswer[],
): Promise<Map<string, number>> {
  const kinds = Map.groupBy(
    answers.filter((answer) => answer.kind === 'failed'),
    ({ name, why }) => `${name}: ${why}`,
  )
  const failures = new Map<string, number>()
  for (const [kind, failed] of kinds) {
    const query = { request: String(failed[0]?.requestId) }
    const items = await createClient({ url: annex.origin, token: annex.token })
      .call('GET /v1/logs', { query })
      .then((logs) => logs.items)
      .catch(() => [])
    failures.set(`${kind} (${items[0]?.text.slice(0, 300) ?? 'nothing in the log'})`, failed.length)
  }
  return failures
}
