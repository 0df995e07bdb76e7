/**
 * Names that the bundled libraries expect on the global object while they are evaluated, and that an isolate
 * does not have then. The build puts these in their place; no script sees them.
 */
export { TextDecoder, TextEncoder } from './encoding/text-encoding.ts'
export { URL } from './url/url.ts'
