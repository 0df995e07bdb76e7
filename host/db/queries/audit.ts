/** The cause of a change. `id`: a member, a token, or the installation or integration of a script. */
export type Actor = { kind: 'person' | 'token' | 'script' | 'system'; id: string | null }
