import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { AnnexError } from '../errors/annex-error.ts'
import { requestBrokeOffError } from '../errors/request-broke-off.ts'

/**
 * What a request brings, in a file without a name: it is read twice, is too long for memory, and nothing of it stays
 * behind, whatever ends the process. Whoever asked closes it.
 *
 * @throws AnnexError `bad_request` when it breaks off, `storage_full` when the folder's disk takes no more
 */
export async function spool(request: IncomingMessage, folder: string): Promise<FileHandle> {
  const path = join(folder, `import-${randomUUID()}`)
  const refuse = (cause: NodeJS.ErrnoException) => {
    const what = `The disk of ${folder}, which keeps what is sent until all of it is there, takes no more (${cause.code}).`
    throw new AnnexError('storage_full', `${what} Nothing was stored: make room, and send it again.`, {
      cause,
    })
  }
  const file = await open(path, 'wx+', 0o600).catch(refuse)
  try {
    await rm(path)
    // Not the handle's own stream, which would hold on to it when it is closed.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      await file.appendFile(chunk).catch(refuse)
    }
    return file
  } catch (error) {
    await file.close()
    if (request.destroyed && !request.complete) throw requestBrokeOffError()
    throw error
  }
}
