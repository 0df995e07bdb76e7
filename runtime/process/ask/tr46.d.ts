/** tr46 brings no types. */
declare module 'tr46' {
  type Options = {
    checkBidi: boolean
    checkHyphens: boolean
    checkJoiners: boolean
    useSTD3ASCIIRules: boolean
    verifyDNSLength: boolean
    transitionalProcessing: boolean
    ignoreInvalidPunycode: boolean
  }
  export function toASCII(domain: string, options: Options): string | null
}
