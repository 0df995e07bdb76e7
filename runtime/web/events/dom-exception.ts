/** Web IDL, 2.8.1: the code of each, the constant that holds it, and the name that an exception with it has. */
const legacyCodes: [constant: string, name?: string][] = [
  ['INDEX_SIZE_ERR', 'IndexSizeError'],
  ['DOMSTRING_SIZE_ERR'],
  ['HIERARCHY_REQUEST_ERR', 'HierarchyRequestError'],
  ['WRONG_DOCUMENT_ERR', 'WrongDocumentError'],
  ['INVALID_CHARACTER_ERR', 'InvalidCharacterError'],
  ['NO_DATA_ALLOWED_ERR'],
  ['NO_MODIFICATION_ALLOWED_ERR', 'NoModificationAllowedError'],
  ['NOT_FOUND_ERR', 'NotFoundError'],
  ['NOT_SUPPORTED_ERR', 'NotSupportedError'],
  ['INUSE_ATTRIBUTE_ERR', 'InUseAttributeError'],
  ['INVALID_STATE_ERR', 'InvalidStateError'],
  ['SYNTAX_ERR', 'SyntaxError'],
  ['INVALID_MODIFICATION_ERR', 'InvalidModificationError'],
  ['NAMESPACE_ERR', 'NamespaceError'],
  ['INVALID_ACCESS_ERR', 'InvalidAccessError'],
  ['VALIDATION_ERR'],
  ['TYPE_MISMATCH_ERR', 'TypeMismatchError'],
  ['SECURITY_ERR', 'SecurityError'],
  ['NETWORK_ERR', 'NetworkError'],
  ['ABORT_ERR', 'AbortError'],
  ['URL_MISMATCH_ERR', 'URLMismatchError'],
  ['QUOTA_EXCEEDED_ERR', 'QuotaExceededError'],
  ['TIMEOUT_ERR', 'TimeoutError'],
  ['INVALID_NODE_TYPE_ERR', 'InvalidNodeTypeError'],
  ['DATA_CLONE_ERR', 'DataCloneError'],
]

const codes = new Map(
  legacyCodes.flatMap(([, name], index) => (name === undefined ? [] : [[name, index + 1]])),
)

let isException: (value: object) => value is DOMException

/** Web IDL, 2.8. Its instances are errors, with a stack. */
export class DOMException extends Error {
  readonly #name: string
  readonly #message: string

  static {
    isException = (value): value is DOMException => #name in value
  }

  constructor(message = '', options: string | { name?: string; cause?: unknown } = 'Error') {
    super()
    const fields = typeof options === 'object' && options !== null ? options : { name: `${options}` }
    this.#message = `${message}`
    this.#name = fields.name === undefined ? 'Error' : `${fields.name}`
    if ('cause' in fields) hide(this, 'cause', fields.cause)
    // V8 wrote the first line of the stack before name and message were known.
    const frames = this.stack?.indexOf('\n    at ') ?? -1
    const head = this.#message === '' ? this.#name : `${this.#name}: ${this.#message}`
    hide(this, 'stack', `${head}${frames === -1 ? '' : this.stack?.slice(frames)}`)
  }

  override get name(): string {
    return this.#name
  }

  override get message(): string {
    return this.#message
  }

  get code(): number {
    return codes.get(this.#name) ?? 0
  }
}

const hide = (on: object, key: string, value: unknown): void => {
  Object.defineProperty(on, key, { value, configurable: true, writable: true, enumerable: false })
}

for (const [index, [constant]] of legacyCodes.entries()) {
  const property = { value: index + 1, enumerable: true }
  Object.defineProperty(DOMException, constant, property)
  Object.defineProperty(DOMException.prototype, constant, property)
}

export const isDOMException = (value: object): value is DOMException => isException(value)
