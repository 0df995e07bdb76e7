import { Ajv2020, type Options } from 'ajv/dist/2020.js'

/**
 * Checks data against schemas of our own. These are not checked themselves, as the schema of all schemas takes longer to compile
 * than all of ours: a tenth of a start. The tests check them.
 */
export const createAjv = (options: Options = {}): Ajv2020 =>
  new Ajv2020({ ...options, meta: false, validateSchema: false })
