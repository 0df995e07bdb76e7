/** For people to read, as any of the databases keeps it: PostgreSQL has no NUL in a text. */
export const toStorable = (text: string): string => text.replaceAll('\0', '\uFFFD')
