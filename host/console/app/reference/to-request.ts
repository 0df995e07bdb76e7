import type { Operation } from '../../../../schemas/list-operations.ts'
import type { SentRequest } from '../deliveries/curl.ts'

/** What a person typed: the parameters by name, and the body. */
export type Typed = { parameters: Readonly<Record<string, string>>; body: string }

/** A parameter that is empty is left out, and shows as `{name}` in an address. */
export const isGiven = (value: string | undefined): value is string => value !== undefined && value !== ''

export function givenOf(names: readonly { name: string }[], { parameters }: Typed): Record<string, string> {
  const given = names.flatMap(({ name }) => {
    const value = parameters[name]
    return isGiven(value) ? [[name, value] as const] : []
  })
  return Object.fromEntries(given)
}

/** The request as a program with a token sends it. */
export function toRequest(operation: Operation, typed: Typed, origin: string): SentRequest {
  const { method, path, queryParameters, headerParameters, body, roles } = operation
  const address = path.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = typed.parameters[name]
    return isGiven(value) ? encodeURIComponent(value) : placeholder
  })
  const query = new URLSearchParams(givenOf(queryParameters, typed)).toString()
  return {
    method,
    url: `${origin}${address}${query && `?${query}`}`,
    headers: [
      ...(roles.includes('anyone') ? [] : [['authorization', 'Bearer token']]),
      ...(body === undefined || typed.body === '' ? [] : [['content-type', 'application/json']]),
      ...Object.entries(givenOf(headerParameters, typed)),
    ],
    ...(body !== undefined && isGiven(typed.body) && { body: typed.body }),
  }
}

const persons: readonly string[] = ['reader', 'editor', 'admin', 'operator', 'account', 'anyone']

export const isForPersons = ({ roles }: Operation): boolean => roles.some((role) => persons.includes(role))

/** An answer that does not end. */
export const isStream = ({ answers, success }: Operation): boolean =>
  Object.keys(answers[success]?.content ?? {}).includes('text/event-stream')
