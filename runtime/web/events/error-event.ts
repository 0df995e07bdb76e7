import { Event, type EventInit, toDictionary } from './event.ts'

type ErrorEventInit = EventInit & {
  message?: string
  filename?: string
  lineno?: number
  colno?: number
  error?: unknown
}

/** HTML standard, 8.1.4.6. */
export class ErrorEvent extends Event {
  readonly #colno: number
  readonly #error: unknown
  readonly #filename: string
  readonly #lineno: number
  readonly #message: string

  constructor(type: string, init: ErrorEventInit | null = {}) {
    if (arguments.length === 0) throw new TypeError('An event needs a type')
    super(type, init)
    const members = toDictionary(init)
    this.#colno = Number(members.colno ?? 0) >>> 0
    this.#error = members.error
    this.#filename = `${members.filename ?? ''}`
    this.#lineno = Number(members.lineno ?? 0) >>> 0
    this.#message = `${members.message ?? ''}`
  }

  get message(): string {
    return this.#message
  }
  get filename(): string {
    return this.#filename
  }
  get lineno(): number {
    return this.#lineno
  }
  get colno(): number {
    return this.#colno
  }
  get error(): unknown {
    return this.#error
  }
}
