import type { ActivityPoint, Quantiles } from '../../schemas/generated/api/activity.ts'
import type { Db } from '../db/db.ts'
import { type Counts, quantile } from '../metrics/activity-counts.ts'
import { type ActivityRecorder, readActivity, steps, wholeAnnex } from '../metrics/record-activity.ts'
import { organizationOf } from './caller.ts'
import { toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'

type ActivityParts = { db: Db; activity: ActivityRecorder }

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const spans = { hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs }
/** Of all of Annex. A chart of a day has no room for each minute. */
const pointsOf = { hour: minuteMs, day: 10 * minuteMs, week: hourMs }

/** What the charts of the console show. */
export function addActivityRoutes(on: OnOperation, { db, activity }: ActivityParts): void {
  on('GET /v1/activity', async ({ caller, query: { organization, span } }) => {
    const isWhole = caller.kind === 'operator' && organization === undefined
    const owner = isWhole ? wholeAnnex : (await organizationOf(db, caller, organization)).id
    const step = isWhole && span !== 'week' ? steps.minute : steps.hour
    await activity.flush()
    const pointMs = isWhole ? pointsOf[span] : hourMs
    const sinceMs = Date.now() - spans[span]
    // A part of a point would draw a rise that has not happened.
    const fromMs = sinceMs - (sinceMs % pointMs)
    const points = await readActivity(db, { owner, step, fromMs, pointMs })
    return {
      object: 'activity',
      organization: isWhole ? null : owner,
      from: toIso(fromMs),
      stepSeconds: pointMs / 1000,
      points: points.map(toPoint),
    }
  })
}

function toPoint({ atMs, counts }: { atMs: number; counts: Counts }): ActivityPoint {
  const { requestTimes, attemptTimes, oldestMs, cpuMs, ...sums } = counts
  return {
    at: toIso(atMs),
    ...sums,
    cpuMs: Math.round(cpuMs),
    oldestSeconds: Math.round(oldestMs / 1000),
    requestMs: toQuantiles(requestTimes),
    attemptMs: toQuantiles(attemptTimes),
  }
}

function toQuantiles(times: Counts['requestTimes']): Quantiles {
  const p50 = quantile(times, 0.5)
  const p99 = quantile(times, 0.99)
  return p50 === undefined || p99 === undefined ? {} : { p50, p99 }
}
