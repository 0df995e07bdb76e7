import type { Complaint } from '../problem.ts'

/** Something wrong with a value of the manifest, named by JSON pointer (RFC 6901), or with its key. `wantsText`: text is expected. */
export type Finding = Complaint & { pointer: string; at: 'key' | 'value'; wantsText?: boolean }
