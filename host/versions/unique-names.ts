import { problemAt } from '../manifest/problem.ts'
import type { ManifestReading } from '../manifest/read-manifest.ts'

/**
 * Names are unique across integrations, case ignored. Adds an error to each reading whose name another one has
 * too, and takes its manifest away: which of them was meant is not for Annex to guess.
 */
export function checkUniqueNames<Reading extends ManifestReading>(
  readings: Reading[],
): (Reading | ManifestReading)[] {
  const byName = Map.groupBy(
    readings.filter((reading) => reading.manifest !== undefined),
    (reading) => reading.manifest?.name.toLowerCase(),
  )
  return readings.map((reading) => {
    const others = (byName.get(reading.manifest?.name.toLowerCase()) ?? []).filter(
      (other) => other !== reading,
    )
    if (reading.manifest === undefined || others.length === 0) return reading
    const message = `the name "${reading.manifest.name}" is also that of ${others.map((other) => other.file).join(', ')}`
    const problem = problemAt(reading.spots.name, { message, hint: 'give one of them another name' })
    return { file: reading.file, problems: [...reading.problems, problem] }
  })
}
