import { definePairIterators } from '../pair-iterator.ts'
import { requireArguments } from '../web-idl.ts'
import { type Blob, blobBytes, isBlob } from './blob.ts'
import { File } from './file.ts'

export type FormDataValue = string | File
type Entry = readonly [name: string, value: FormDataValue]

let entriesOf: (form: FormData) => Entry[]
let isFormDataObject: (value: unknown) => value is FormData

/** XMLHttpRequest standard, 4. A Blob becomes a File named "blob", as there. */
export class FormData {
  #entries: Entry[] = []

  static {
    entriesOf = (form) => form.#entries
    isFormDataObject = (value): value is FormData =>
      typeof value === 'object' && value !== null && #entries in value
  }

  constructor(form: unknown = undefined) {
    if (form !== undefined)
      throw new TypeError('FormData takes no form here: there are no elements in a sandbox')
  }

  append(name: unknown, value: unknown, ...filename: unknown[]): void {
    requireArguments(arguments.length, 2, 'FormData.append')
    this.#entries.push(toEntry(name, value, filename))
  }

  set(name: unknown, value: unknown, ...filename: unknown[]): void {
    requireArguments(arguments.length, 2, 'FormData.set')
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
    requireArguments(arguments.length, 1, 'FormData.delete')
    const key = toName(name)
    this.#entries = this.#entries.filter((entry) => entry[0] !== key)
  }

  get(name: unknown): FormDataValue | null {
    requireArguments(arguments.length, 1, 'FormData.get')
    const key = toName(name)
    return this.#entries.find((entry) => entry[0] === key)?.[1] ?? null
  }

  getAll(name: unknown): FormDataValue[] {
    requireArguments(arguments.length, 1, 'FormData.getAll')
    const key = toName(name)
    return this.#entries.filter((entry) => entry[0] === key).map((entry) => entry[1])
  }

  has(name: unknown): boolean {
    requireArguments(arguments.length, 1, 'FormData.has')
    const key = toName(name)
    return this.#entries.some((entry) => entry[0] === key)
  }

  forEach(
    callback: (value: FormDataValue, name: string, form: FormData) => void,
    thisArgument: unknown = undefined,
  ): void {
    if (typeof callback !== 'function') throw new TypeError('FormData.forEach needs a function')
    for (let index = 0; index < this.#entries.length; index++) {
      const entry = this.#entries[index] as Entry
      callback.call(thisArgument, entry[1], entry[0], this)
    }
  }

  entries(): IterableIterator<[string, FormDataValue]> {
    return this.#entries && iterate(this, 'entries')
  }

  keys(): IterableIterator<string> {
    return this.#entries && iterate(this, 'keys')
  }

  values(): IterableIterator<FormDataValue> {
    return this.#entries && iterate(this, 'values')
  }

  [Symbol.iterator](): IterableIterator<[string, FormDataValue]> {
    return this.entries()
  }
}

export const isFormData = (value: unknown): value is FormData => isFormDataObject(value)

/** The entries of a form, not copied. */
export const formEntries = (form: FormData): readonly Entry[] => entriesOf(form)

const iterate = definePairIterators('FormData', (form: FormData) => entriesOf(form))

const toName = (name: unknown): string => `${name}`.toWellFormed()

const toEntry = (name: unknown, value: unknown, [filename]: unknown[]): Entry => {
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
