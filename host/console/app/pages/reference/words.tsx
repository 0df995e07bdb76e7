import type { ComponentChildren } from 'preact'
import { nameOf, toLimits } from '../../../../../schemas/describe-schema.ts'
import type { Schema } from '../../../../../schemas/openapi.ts'

/** A description of the API. It marks code by backticks, and has no other marks. */
export const Prose = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>
)

/** An address breaks before its slashes, and not within a name. */
export const Method = ({ method, path }: { method: string; path: string }) => (
  <span class={`method ${method.toLowerCase()}`}>
    <b>{method}</b>{' '}
    <code>
      {path.split(/(?=\/)/).map((part, at) => (
        <>
          {at > 0 && <wbr />}
          {part}
        </>
      ))}
    </code>
  </span>
)

export const RecordLink = ({ org, name }: { org: string; name: string }) => (
  <a href={`/orgs/${org}/docs/records/${name}`}>
    <code>{name}</code>
  </a>
)

/** A schema in a few words. A record is a link. */
export function TypeOf({ org, schema }: { org: string; schema: Schema }): ComponentChildren {
  const { $ref, const: value, enum: values, anyOf, oneOf, items, properties } = schema
  if (typeof $ref === 'string') return <RecordLink org={org} name={nameOf($ref)} />
  if (value !== undefined) return <code>{JSON.stringify(value)}</code>
  if (Array.isArray(values))
    return join(
      values.map((one) => <code key={`${one}`}>{`${one}`}</code>),
      ', ',
    )
  const choices: unknown = anyOf ?? oneOf
  if (Array.isArray(choices))
    return join(
      choices.map((one) => <TypeOf org={org} schema={one} />),
      ' or ',
    )
  if (items !== undefined)
    return (
      <>
        list of <TypeOf org={org} schema={items as Schema} />
      </>
    )
  if (properties === undefined) return toLimits(schema)
  return join(
    Object.keys(properties as object).map((name) => <code key={name}>{name}</code>),
    ', ',
  )
}

const join = (parts: readonly ComponentChildren[], between: string): ComponentChildren =>
  parts.map((part, at) => (
    <>
      {at > 0 && between}
      {part}
    </>
  ))
