import { realpath } from 'node:fs/promises'
import type { FileProblem } from '../db/queries/places.ts'
import { AnnexError } from '../errors.ts'
import { type OwnFiles, readInside } from '../manifest/read-inside.ts'
import { type FoundFile, listFolder } from './list-folder.ts'
import { orderPages, type PlacedPage } from './order-pages.ts'
import { decodeText, maxPageBytes, type PageFile, readPage } from './read-page.ts'
import { parseSummary, type SummaryEntry, summaryFile } from './read-summary.ts'
import type { ListedFolder } from './watch-folders.ts'

/** A folder as it is now: its pages in their order, files that are left out, and fields that are ignored. */
export type SpaceFolder = {
  root: string
  folders: ListedFolder[]
  pages: PlacedPage[]
  problems: FileProblem[]
}

export type FolderReader = {
  /** @throws AnnexError `not_found` without the folder */
  read: (folder: string, ownFiles: OwnFiles | undefined) => Promise<SpaceFolder>
}

type Kept = { stamp: string; reading: PageFile | FileProblem }

const readsAtOnce = 8
/** A file that changes again so soon may have the same time. */
const sureMs = 100

/** Reads folders again and again. A file whose stamp is the same is not read again. */
export function createFolderReader(): FolderReader {
  const readings = new Map<string, Map<string, Kept>>()
  return {
    async read(folder, ownFiles) {
      const root = await realpath(folder).catch(() => {
        throw new AnnexError(
          'not_found',
          `The space's folder ${folder} does not exist. Make it, or name another.`,
        )
      })
      const { files, folders, problems } = await listFolder(root)
      const kept = readings.get(root) ?? new Map<string, Kept>()
      const now = new Map<string, Kept>()
      readings.set(root, now)
      const pages = files.filter(({ file }) => file !== summaryFile)
      for (let at = 0; at < pages.length; at += readsAtOnce) {
        const some = pages.slice(at, at + readsAtOnce)
        await Promise.all(some.map((found) => readAgain(root, found, { kept, now, ownFiles })))
      }
      const read = pages.flatMap(({ file }) => now.get(file)?.reading ?? [])
      const entries = await readSummary(root, files, ownFiles, problems)
      const left = read.filter((one): one is FileProblem => !('digest' in one))
      const found = read.filter((one): one is PageFile => 'digest' in one)
      const ordered = orderPages(found, entries)
      // First those that leave a page out: only some are stored.
      problems.push(...left, ...ordered.problems, ...found.flatMap((page) => page.problems))
      return { root, folders, pages: ordered.pages, problems }
    },
  }
}

async function readAgain(
  root: string,
  { file, stamp, changedAt }: FoundFile,
  given: { kept: Map<string, Kept>; now: Map<string, Kept>; ownFiles: OwnFiles | undefined },
): Promise<void> {
  const before = given.kept.get(file)
  if (before?.stamp === stamp) return void given.now.set(file, before)
  const isSure = Date.now() - changedAt > sureMs
  const read = await readPage(root, file, given.ownFiles)
  const reading = 'problem' in read ? read.problem : read.page
  given.now.set(file, { stamp: isSure ? stamp : '', reading })
}

async function readSummary(
  root: string,
  files: readonly FoundFile[],
  ownFiles: OwnFiles | undefined,
  problems: FileProblem[],
): Promise<SummaryEntry[]> {
  if (!files.some(({ file }) => file === summaryFile)) return []
  const reading = await readInside(root, summaryFile, maxPageBytes, ownFiles)
  if ('problem' in reading) {
    problems.push({ file: summaryFile, message: `The file ${reading.problem}. Pages are ordered by name.` })
    return []
  }
  const decoded = decodeText(reading.bytes)
  if ('message' in decoded) {
    problems.push({ file: summaryFile, ...decoded })
    return []
  }
  const summary = parseSummary(decoded.text)
  problems.push(...summary.problems)
  return summary.entries
}
