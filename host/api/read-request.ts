import type { ErrorObject } from 'ajv/dist/2020.js'
import type { Context } from 'koa'
import { standAlone } from '../../schemas/assemble-api.ts'
import { createCheck } from '../../schemas/create-check.ts'
import { toDetail } from '../../schemas/describe-error.ts'
import type { Operation } from '../../schemas/list-operations.ts'
import type { OpenApi } from '../../schemas/openapi.ts'
import type { AccountCaller, Caller } from '../access/tokens.ts'
import { isJsonObject } from '../assert-json.ts'
import { AnnexError, type ErrorDetail } from '../errors.ts'
import { readJson } from '../http/body.ts'
import { clip } from './list-query.ts'
import { organizationHeader } from './read-session.ts'

const maxDetails = 20
const maxFields = 50
const formats = { from: 'ajv-formats/dist/formats.js', name: 'fullFormats' }
const options = { strict: true, allowUnionTypes: true, formats }
/** Only a short body gets all of its errors: a long list of wrong items would block the event loop. */
const mostExplained = 16 * 1024
const none = Object.freeze({})

/** @returns a function that reads and checks the JSON body. It throws AnnexError `bad_request`, `body_invalid`, `body_too_large` */
export function createBodyReader(
  { body, maxBodyBytes, isBodyChecked }: Operation,
  document: OpenApi,
): (context: Context) => Promise<unknown> {
  if (body === undefined) return async () => undefined
  if (!isBodyChecked) return (context) => readJson(context, maxBodyBytes)
  const schema = standAlone(body, document)
  const validator = createCheck(schema, options)
  const explainer = createCheck(schema, { ...options, allErrors: true })
  return async (context) => {
    const value = await readJson(context, maxBodyBytes)
    if (isJsonObject(value) && Object.keys(value).length > maxFields) {
      throw new AnnexError('body_invalid', `The JSON body has more than ${maxFields} fields.`)
    }
    const check = validator()
    if (check(value)) return value
    const explain = JSON.stringify(value).length > mostExplained ? check : explainer()
    explain(value)
    const details = toDetails(explain.errors)
    const list = details.map(({ path, message }) => `${path.slice(1) || 'body'} ${message}`).join('; ')
    throw new AnnexError('body_invalid', `The JSON body cannot be used: ${list}.`, { details })
  }
}

/** @returns a function that reads and checks the query, with defaults. It throws AnnexError `bad_request` */
export function createQueryReader(
  operation: Operation,
  document: OpenApi,
): (context: Context, caller: Caller | AccountCaller | undefined) => object {
  const { queryParameters } = operation
  const properties = Object.fromEntries(queryParameters.map(({ name, schema }) => [name, schema]))
  const required = queryParameters.filter((parameter) => parameter.required).map(({ name }) => name)
  const isNeeded =
    required.length > 0 || Object.values(properties).some(({ default: value }) => value !== undefined)
  const schema = standAlone({ type: 'object', properties, required }, document)
  const validator = createCheck<object>(schema, {
    ...options,
    allErrors: true,
    coerceTypes: true,
    useDefaults: true,
  })
  return (context, caller) => {
    if (context.querystring === '' && !isNeeded && context.get(organizationHeader) === '') return none
    const query = pickKnown(context, caller, operation)
    const check = validator()
    if (check(query)) {
      assertFinite(query)
      return query
    }
    const details = toDetails(check.errors)
    const list = details.map(({ path, message }) => `${path.slice(1) || 'query'} ${message}`).join('; ')
    throw new AnnexError('bad_request', `The query cannot be used: ${list}.`, { details })
  }
}

/** Ajv makes `1e999` a number that no rule of a schema sees. @throws AnnexError `bad_request` */
function assertFinite(query: object): void {
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'number' || Number.isFinite(value)) continue
    throw new AnnexError('bad_request', `The query cannot be used: ${name} must be a finite number.`)
  }
}

/**
 * The header by which a session names an organization is the default of the parameter `organization`.
 *
 * Unknown parameters of people are refused: a client that pages by a misspelled name would get the first page for ever. Those
 * of scripts are left out: a script that was written for another platform may send some that Annex does not have.
 */
function pickKnown(
  { query, headers }: Context,
  caller: Caller | AccountCaller | undefined,
  { method, path, queryParameters }: Operation,
): Record<string, string> {
  const isScript = caller !== undefined && 'scopes' in caller
  // It chooses the membership: an image or a link sends no header.
  const isSession = caller !== undefined && 'sessionId' in caller
  const isKnown = (name: string) => queryParameters.some((parameter) => parameter.name === name)
  const picked: Record<string, string> = {}
  const named = isSession && isKnown('organization') ? headers[organizationHeader] : undefined
  for (const [name, value] of Object.entries({ ...(named && { organization: named }), ...query })) {
    if (!isKnown(name)) {
      if (isScript || (isSession && name === 'organization')) continue
      const known = queryParameters.map((parameter) => parameter.name).join(', ') || 'none'
      const text = `"${clip(name)}" is no query parameter of ${method} ${path}. It takes: ${known}.`
      throw new AnnexError('bad_request', text)
    }
    if (typeof value !== 'string') throw new AnnexError('bad_request', `${name} is given more than once.`)
    // PostgreSQL has no text with U+0000.
    if (value.includes('\0')) throw new AnnexError('bad_request', `${name} holds U+0000.`)
    picked[name] = value
  }
  return picked
}

const toDetails = (errors: ErrorObject[] | null | undefined): ErrorDetail[] =>
  (errors ?? []).slice(0, maxDetails).map(toDetail)
