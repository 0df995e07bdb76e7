// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * A name in an address: a subdomain or a slug.
 */
export type ShortName = string

export type Title = string

/**
 * A time in UTC.
 */
export type Time = string

/**
 * Settings by their names.
 */
export interface Configuration {
  [k: string]: unknown
}

/**
 * Where the next page begins: a parameter of the query. The last page has none.
 */
export interface BeforePage {
  before: string
}
