import type { Compute, ComputedDocument, ComputedRevision } from '../../schemas/generated/api/dispatches.ts'
import { AnnexError } from '../errors.ts'
import type { PreparedLevel } from '../installations/prepare-dispatch.ts'
import { type Asking, type AskParts, askScript, readJsonAnswer } from './ask-script.ts'

/** `props` are those of the block or page that uses the source. The content is computed from `dependencies`. */
export type SourceInput = Compute & { sourceId: string }

/**
 * Computes a tree of pages by a content source of a level's script.
 *
 * @throws AnnexError `not_found` when the script has no such source, or the error that ended the dispatch
 */
export function computeRevision(
  parts: AskParts,
  prepared: PreparedLevel,
  { sourceId, props = {}, dependencies = {} }: SourceInput,
  asking: Asking,
): Promise<ComputedRevision> {
  const question = { type: 'content_compute_revision', sourceId, props, dependencies }
  return askScript(
    parts,
    prepared,
    question,
    asking,
    async (outcome) => (await readJsonAnswer(outcome)).value,
  )
}

/** Computes the document of one page. @throws AnnexError as `computeRevision` */
export function computeDocument(
  parts: AskParts,
  prepared: PreparedLevel,
  { sourceId, props = {}, dependencies = {} }: SourceInput,
  asking: Asking,
): Promise<ComputedDocument> {
  const question = { type: 'content_compute_document', sourceId, props, dependencies }
  return askScript(parts, prepared, question, asking, async (outcome) => {
    const { document = null } = (await readJsonAnswer(outcome)).value
    if (isDocument(document)) return { document }
    throw new AnnexError('script_failed', 'The script computed something else than a document.')
  })
}

const isDocument = (value: unknown): value is ComputedDocument['document'] =>
  typeof value === 'object' && !Array.isArray(value)
