import { AnnexError } from './annex-error.ts'

/** The answer to a request that Annex does not begin any more. */
export const stoppingError = (): AnnexError => new AnnexError('unavailable', 'Annex is stopping.')
