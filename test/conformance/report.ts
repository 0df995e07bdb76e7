import type { Case } from './list-cases.ts'
import type { Subtest } from './run-case.ts'

export type Outcome = {
  given: Case
  passed: number
  failures: Subtest[]
  /** Names of subtests that were run and are not counted. */
  excluded: string[]
  /** Why the whole file was not run. */
  reason?: string
}

type Counts = { passed: number; total: number; excludedSubtests: number }
export type Summary = {
  areas: (Counts & { area: string; excludedFiles: number })[]
  files: (Counts & { area: string; file: string; failures: Subtest[] })[]
  excluded: { file: string; reason: string }[]
}

/** Counts by file and by area, in the order of the areas. */
export const sumUp = (outcomes: Outcome[]): Summary => {
  const files = outcomes
    .filter(({ reason }) => reason === undefined)
    .map(({ given, passed, failures, excluded }) => ({
      area: given.area,
      file: `${given.file}${given.variant}`,
      passed,
      total: passed + failures.length,
      excludedSubtests: excluded.length,
      failures,
    }))
    .sort((a, b) => (a.file < b.file ? -1 : 1))
  const excluded = outcomes.flatMap(({ given, reason }) =>
    reason === undefined ? [] : [{ area: given.area, file: `${given.file}${given.variant}`, reason }],
  )
  const names = new Set(outcomes.map(({ given }) => given.area))
  const areas = [...names].sort().map((area) => {
    const own = files.filter((file) => file.area === area)
    return {
      area,
      passed: sum(own, 'passed'),
      total: sum(own, 'total'),
      excludedSubtests: sum(own, 'excludedSubtests'),
      excludedFiles: excluded.filter((file) => file.area === area).length,
    }
  })
  return { areas, files, excluded: excluded.map(({ file, reason }) => ({ file, reason })) }
}

const sum = (counts: Counts[], key: keyof Counts): number =>
  counts.reduce((total, one) => total + one[key], 0)

/** What people read: failures where they are asked for, then a line for each file, then one for each area. */
export const printReport = (summary: Summary, show: { failures: boolean; files: boolean }): void => {
  if (show.failures) {
    for (const { file, failures } of summary.files) {
      for (const { name, message } of failures) console.log(`${file}: ${name}\n    ${message.slice(0, 400)}`)
    }
  }
  if (show.files) {
    for (const { file, ...counts } of summary.files) console.log(line(file, counts))
    for (const { file, reason } of summary.excluded) console.log(`${file}: excluded, ${reason}`)
    console.log('')
  }
  for (const { area, excludedFiles, ...counts } of summary.areas) {
    const left = excludedFiles === 0 ? '' : `, ${excludedFiles} files excluded`
    console.log(`${line(area, counts)}${left}`)
  }
}

const line = (name: string, { passed, total, excludedSubtests }: Counts): string => {
  const percent = total === 0 ? '-' : `${((passed / total) * 100).toFixed(1)}%`
  const left = excludedSubtests === 0 ? '' : `, ${excludedSubtests} subtests excluded`
  return `${name.padEnd(28)} ${percent.padStart(7)}  ${passed}/${total}${left}`
}
