/** The URL standard, by whatwg-url. The rest of the prelude imports URLs from here. */
export { URL, URLSearchParams } from 'whatwg-url'
