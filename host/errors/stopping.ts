import { AnnexError } from './annex-error.ts'

/** Of whoever asks for something that Annex does not begin any more. */
export const stoppingError = (): AnnexError => new AnnexError('unavailable', 'Annex is stopping.')
