import { Blob } from './blob.ts'

/** File API, 4. */
export class File extends Blob {
  readonly #name: string
  readonly #lastModified: number

  constructor(
    parts: Iterable<unknown>,
    name: string,
    options: { type?: string; lastModified?: number } = {},
  ) {
    if (name === undefined) throw new TypeError('A File is made from a list of parts and a name')
    super(parts, options)
    this.#name = `${name}`.toWellFormed()
    this.#lastModified = Math.trunc(Number(options?.lastModified ?? Date.now())) || 0
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
