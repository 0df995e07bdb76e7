const codes: Record<string, number> = {
  IndexSizeError: 1,
  HierarchyRequestError: 3,
  WrongDocumentError: 4,
  InvalidCharacterError: 5,
  NoModificationAllowedError: 7,
  NotFoundError: 8,
  NotSupportedError: 9,
  InUseAttributeError: 10,
  InvalidStateError: 11,
  SyntaxError: 12,
  InvalidModificationError: 13,
  NamespaceError: 14,
  InvalidAccessError: 15,
  TypeMismatchError: 17,
  SecurityError: 18,
  NetworkError: 19,
  AbortError: 20,
  URLMismatchError: 21,
  QuotaExceededError: 22,
  TimeoutError: 23,
  InvalidNodeTypeError: 24,
  DataCloneError: 25,
}

/** Constants are named as in the standard: `InvalidStateError` is `INVALID_STATE_ERR`. */
const constantName = (name: string): string =>
  `${name
    .replace(/Error$/, '')
    .replace('URL', 'Url')
    .replace(/(?<=.)[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase()}_ERR`

/** Web IDL 2.8.1. Its instances are errors with a stack, but not made by the Error constructor chain. */
export class DOMException extends Error {
  readonly #name: string

  constructor(message = '', options: string | { name?: string; cause?: unknown } = 'Error') {
    super(`${message}`)
    this.#name = typeof options === 'object' ? `${options.name ?? 'Error'}` : `${options}`
    if (typeof options === 'object' && 'cause' in options) {
      Object.defineProperty(this, 'cause', { value: options.cause, configurable: true, writable: true })
    }
    // V8 wrote the first line of the stack before the name was known.
    const stack = this.stack
    // A script's prepareStackTrace may have made anything of it.
    if (typeof stack === 'string' && stack.startsWith('Error') && this.#name !== 'Error') {
      Object.defineProperty(this, 'stack', {
        value: `${this.#name}${stack.slice(5)}`,
        configurable: true,
        writable: true,
      })
    }
  }

  override get name(): string {
    return this.#name
  }

  get code(): number {
    return Object.hasOwn(codes, this.#name) ? (codes[this.#name] ?? 0) : 0
  }
}

for (const [name, value] of Object.entries(codes)) {
  const constant = { value, enumerable: true }
  Object.defineProperty(DOMException, constantName(name), constant)
  Object.defineProperty(DOMException.prototype, constantName(name), constant)
}
