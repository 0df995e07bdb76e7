import { toASCII } from 'tr46'

/** Characters. A real name has 253 at most; the time that the check takes grows with the square of them. */
const longestChecked = 2048

/** URL standard, "domain to ASCII" with beStrict false. */
const options = {
  checkBidi: true,
  checkHyphens: false,
  checkJoiners: true,
  useSTD3ASCIIRules: false,
  verifyDNSLength: false,
  transitionalProcessing: false,
  ignoreInvalidPunycode: false,
}

/**
 * Whether each Punycode label of a host stands for a name that may be. Node's URL parser writes them without looking:
 * it takes labels that decode to nothing, and names that mix directions of writing.
 */
export function isValidDomain(host: string): boolean {
  if (!host.includes('xn--') || host.length > longestChecked) return true
  return toASCII(host, options) === host
}
