/** TextEncoder and TextDecoder, with all legacy encodings: whatwg-url brings their tables along anyway. */
export { TextDecoder, TextEncoder } from '@exodus/bytes/encoding.js'
