import { requireArguments, toDictionary, toInteger } from '../web-idl.ts'
import { Blob, type BlobInit } from './blob.ts'

export type FileInit = BlobInit & { lastModified?: unknown }

/** File API, 4. */
export class File extends Blob {
  readonly #name: string
  readonly #lastModified: number

  constructor(parts: Iterable<unknown>, name: unknown, options: FileInit | undefined = undefined) {
    requireArguments(arguments.length, 2, 'new File')
    if (parts === undefined) throw new TypeError('A File is made from a list of parts')
    const text = `${name}`.toWellFormed()
    super(parts, options)
    const lastModified = toDictionary(options, 'The third argument of File')?.lastModified
    this.#name = text
    this.#lastModified = lastModified === undefined ? Date.now() : toInteger(lastModified)
  }

  get name(): string {
    return this.#name
  }

  get lastModified(): number {
    return this.#lastModified
  }

  get webkitRelativePath(): string {
    return ''
  }
}
