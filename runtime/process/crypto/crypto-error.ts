/** An error of a crypto call, as the guest sees it: `name` is one of Web Crypto, or TypeError. */
export class CryptoCallError extends Error {
  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}

/**
 * Node's own errors have codes, causes and stacks of their own, with paths of this machine; the guest gets a name and
 * a text.
 */
export const toCryptoError = (error: unknown): { name: string; message: string } => {
  if (error instanceof CryptoCallError || error instanceof DOMException || error instanceof TypeError) {
    return { name: error.name, message: error.message }
  }
  return { name: 'OperationError', message: 'The operation failed' }
}
