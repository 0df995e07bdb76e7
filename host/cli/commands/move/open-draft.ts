import { once } from 'node:events'
import { createWriteStream, existsSync, type WriteStream } from 'node:fs'
import { link, rm } from 'node:fs/promises'
import { messageOf } from '../../../errors/annex-error.ts'
import { UsageError } from '../../options.ts'

/** A file that is not there under its name before it is whole. What is not kept goes. */
export type Draft = AsyncDisposable & { file: WriteStream; keep: () => Promise<void> }

/** @throws UsageError when it is there already, or cannot be made */
export async function openDraft(path: string): Promise<Draft> {
  if (existsSync(path)) throw new UsageError(`${path} is there already.`)
  const draft = `${path}.${process.pid}.draft`
  const file = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true })
  await once(file, 'open').catch((error) => {
    throw new UsageError(`The file ${path} cannot be written (${messageOf(error)}).`)
  })
  return {
    file,
    keep: () => link(draft, path),
    async [Symbol.asyncDispose]() {
      file.destroy()
      await rm(draft, { force: true })
    },
  }
}
