/** An error of a crypto call, as the guest sees it: `name` is one of Web Crypto, or TypeError. */
export class CryptoCallError extends Error {
  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}
