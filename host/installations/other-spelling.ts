import { AnnexError } from '../errors.ts'

/**
 * An address has another spelling of an integration's name. The answer is a redirect: one script at two addresses would have
 * two keys in caches, and its cookies at one of them only.
 */
export class OtherSpelling extends AnnexError {
  /** The name as its manifest has it. */
  readonly spelling: string

  constructor(spelling: string) {
    super('not_found', `The name of this integration is written ${spelling}.`)
    this.spelling = spelling
  }
}
