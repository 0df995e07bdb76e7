/** Of text that a job has to do with, in characters: what one of those counts for that have little. */
const unitLength = 65_536

/**
 * What a job counts for among all that run, and against what its owner may have: one, and one more for each 64 KiB of text. Such
 * text is in memory for as long as the job runs, and a receiver that never answers has it run for long.
 */
export const unitsOf = (length: number): number => 1 + Math.floor(length / unitLength)
