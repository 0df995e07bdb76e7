/** In bytes. What is longer would fill the memory while it waits for a turn. */
const mostRead = 16_384

/**
 * A text where it is short, else null, and how long it is, in bytes: both databases know that without reading it.
 *
 * @returns two columns, `name` and `name_length`
 */
export const shortText = (column: string, name: string): string =>
  `case when octet_length(${column}) <= ${mostRead} then ${column} end as ${name}, octet_length(${column}) as ${name}_length`
