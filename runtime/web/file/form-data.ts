import { type Blob, blobBytes, isBlob } from './blob.ts'
import { File } from './file.ts'

export type FormDataValue = string | File
type Entry = [name: string, value: FormDataValue]

/** XMLHttpRequest standard, 4. A Blob becomes a File named "blob", as there. */
export class FormData {
  #entries: Entry[] = []

  constructor(form?: unknown) {
    if (form !== undefined)
      throw new TypeError('FormData takes no form here: there are no elements in a sandbox')
  }

  append(name: unknown, value: unknown, filename?: unknown): void {
    this.#entries.push(toEntry(name, value, filename))
  }

  set(name: unknown, value: unknown, filename?: unknown): void {
    const entry = toEntry(name, value, filename)
    const at = this.#entries.findIndex(([key]) => key === entry[0])
    if (at === -1) {
      this.#entries.push(entry)
      return
    }
    this.#entries = this.#entries.filter(([key], index) => index <= at || key !== entry[0])
    this.#entries[at] = entry
  }

  delete(name: unknown): void {
    const key = toName(name)
    this.#entries = this.#entries.filter((entry) => entry[0] !== key)
  }

  get(name: unknown): FormDataValue | null {
    const key = toName(name)
    return this.#entries.find((entry) => entry[0] === key)?.[1] ?? null
  }

  getAll(name: unknown): FormDataValue[] {
    const key = toName(name)
    return this.#entries.filter((entry) => entry[0] === key).map((entry) => entry[1])
  }

  has(name: unknown): boolean {
    const key = toName(name)
    return this.#entries.some((entry) => entry[0] === key)
  }

  forEach(
    callback: (value: FormDataValue, name: string, form: FormData) => void,
    thisArgument?: unknown,
  ): void {
    for (const [name, value] of this.entries()) callback.call(thisArgument, value, name, this)
  }

  *entries(): Generator<Entry> {
    for (let index = 0; ; index++) {
      const entry = this.#entries[index]
      if (entry === undefined) return
      yield [entry[0], entry[1]]
    }
  }

  *keys(): Generator<string> {
    for (const [name] of this.entries()) yield name
  }

  *values(): Generator<FormDataValue> {
    for (const [, value] of this.entries()) yield value
  }

  [Symbol.iterator](): Generator<Entry> {
    return this.entries()
  }
}

const toName = (name: unknown): string => `${name}`.toWellFormed()

const toEntry = (name: unknown, value: unknown, filename: unknown): Entry => {
  if (isBlob(value)) return [toName(name), toFile(value, filename)]
  if (filename !== undefined) throw new TypeError('A file name goes with a Blob or File only')
  return [toName(name), `${value}`.toWellFormed()]
}

const toFile = (blob: Blob, filename: unknown): File => {
  if (blob instanceof File && filename === undefined) return blob
  const name = filename === undefined ? 'blob' : `${filename}`
  const lastModified = blob instanceof File ? { lastModified: blob.lastModified } : {}
  return new File([blobBytes(blob)], name, { type: blob.type, ...lastModified })
}
