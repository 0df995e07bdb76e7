import { AnnexError } from './annex-error.ts'

/** Of a visitor who has gone away, or does not speak HTTP. Without a cause: its raw packet holds the request's token. */
export const requestBrokeOffError = (): AnnexError =>
  new AnnexError('bad_request', 'The body broke off, or was not sent as HTTP asks for.')
