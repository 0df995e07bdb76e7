import { getOwnPropertyDescriptor, reflectApply } from '../primordials.ts'

/** The fields of the platform's objects that the log shows. A field whose getter makes an object (a stream, a signal) is left out. */
const fieldNames: Record<string, string[]> = {
  AbortSignal: ['aborted', 'reason'],
  Blob: ['size', 'type'],
  CryptoKey: ['type', 'extractable', 'algorithm', 'usages'],
  Event: ['type'],
  File: ['name', 'size', 'type', 'lastModified'],
  Request: ['method', 'url', 'headers', 'bodyUsed'],
  Response: ['status', 'statusText', 'url', 'headers', 'bodyUsed'],
  URL: ['href'],
}
const withEntries = ['FormData', 'Headers', 'URLSearchParams']

type Getter = (this: object) => unknown
type Shown = { prototype: object; fields: [name: string, get: Getter][]; entries: Getter | undefined }

const inherits = Object.prototype.isPrototypeOf
const shown: Shown[] = []

/** Keeps the getters of an interface as they are: those of a script are not called. */
export const showInterface = (name: string, prototype: object): void => {
  const names = fieldNames[name] ?? []
  const hasEntries = withEntries.includes(name)
  if (names.length === 0 && !hasEntries) return
  const fields = names.map((field): [string, Getter] => {
    const owner =
      getOwnPropertyDescriptor(prototype, field) === undefined ? Object.getPrototypeOf(prototype) : prototype
    return [field, getOwnPropertyDescriptor(owner, field)?.get as Getter]
  })
  const entries = hasEntries ? (prototype as { entries: Getter }).entries : undefined
  // A File is a Blob as well: what inherits comes later, and is asked first.
  shown.unshift({ prototype, fields, entries })
}

/** The fields or entries of one of the platform's objects; `undefined` for any other object, also for one with a faked prototype. */
export const platformContent = (
  value: object,
): { fields: [name: string, value: unknown][] } | { entries: Iterable<[unknown, unknown]> } | undefined => {
  for (const { prototype, fields, entries } of shown) {
    if (!reflectApply(inherits, prototype, [value])) continue
    try {
      if (entries !== undefined)
        return { entries: reflectApply(entries, value, []) as Iterable<[unknown, unknown]> }
      return { fields: fields.map(([name, get]) => [name, reflectApply(get, value, [])]) }
    } catch {
      return undefined
    }
  }
  return undefined
}
