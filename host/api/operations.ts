import type Router from '@koa/router'
import type { Context } from 'koa'
import type { Api } from '../../schemas/api.ts'
import {
  levelOperations,
  type OperationId,
  type Operations,
  type Routes,
} from '../../schemas/generated/api/operations.ts'
import type { Operation } from '../../schemas/list-operations.ts'
import type { Role } from '../../schemas/openapi.ts'
import type { AccountCaller, Caller } from '../access/tokens.ts'
import { confirmedMs } from '../accounts/sessions.ts'
import type { Role as PersonRole } from '../db/queries/members.ts'
import { AnnexError, isAnnexError } from '../errors.ts'
import { nowhere, type RateLimits } from '../http/rate-limits.ts'
import type { MissedCalls } from '../installations/missed-calls.ts'
import type { PermissionUses } from '../installations/permission-uses.ts'
import { UnreachedError } from '../installations/reach.ts'
import { type Authenticate, nounOf, type Person } from './caller.ts'
import { createBodyReader, createQueryReader } from './read-request.ts'

/** The callers that have one of these roles. An operation for anyone has no caller. */
type CallerOf<R> = R extends 'anyone'
  ? undefined
  : Extract<Caller | AccountCaller, { kind: R extends 'reader' | 'editor' | 'admin' ? 'organization' : R }>

/** A request that is authenticated, and whose query and body match their schemas. */
export type OperationRequest<Address extends keyof Routes> = Request<Routes[Address]>

type Request<Id extends OperationId> = {
  caller: CallerOf<Operations[Id]['roles']>
  params: Operations[Id]['params']
  query: Operations[Id]['query']
  body: Operations[Id]['body']
  operation: Operation
  context: Context
}

type Answer<Id extends OperationId> = Operations[Id]['answer']
type Handle<Id extends OperationId> = (request: Request<Id>) => Answer<Id> | Promise<Answer<Id>>
type AnyHandle = (request: never) => unknown

/**
 * Registers the handler of an operation, by its method and path. An operation of levels has the account's address, and its
 * handler serves sites and spaces, too. Its value is the JSON answer, with the first 2xx status of the schema. A handler
 * may set headers, another 2xx status or a stream at `context`.
 */
export type OnOperation = <Address extends keyof Routes>(
  address: Address,
  handle: Handle<Routes[Address]>,
) => void

const accountAddresses = new Map<string, string>(
  Object.entries(levelOperations).flatMap(([address, ids]) => Object.values(ids).map((id) => [id, address])),
)

const addressOf = ({ id, method, path }: Operation): string => accountAddresses.get(id) ?? `${method} ${path}`

/** Sees each answer of an operation. The tests check it against the schema. */
export type SeeAnswer = (operation: Operation, status: number, body: unknown) => void

export type OperationParts = {
  authenticate: Authenticate
  rateLimits: Pick<RateLimits, 'countVisitor'>
  seeAnswer?: SeeAnswer | undefined
  onMissed: MissedCalls['note']
  onScopeUsed: PermissionUses['note']
}

/** Collects handlers, and makes the routes that `schemas/api` describes. */
export function createOperations(
  { document, operations }: Api,
  { authenticate, rateLimits, seeAnswer, onMissed, onScopeUsed }: OperationParts,
): { on: OnOperation; addTo: (router: Router) => void } {
  const handles = new Map<string, AnyHandle>()
  return {
    on(address, handle) {
      if (handles.has(address)) throw new Error(`${address} has two handlers.`)
      handles.set(address, handle)
    },
    addTo(router) {
      const known = new Set(operations.map(addressOf))
      const unknown = [...handles.keys()].filter((address) => !known.has(address))
      if (unknown.length > 0) throw new Error(`schemas/api has no ${unknown.join(', ')}.`)
      // Koa takes the first route that matches: `/v1/deliveries/feed` sorts before `/v1/deliveries/{id}`.
      for (const operation of operations.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
        const handle = handles.get(addressOf(operation))
        if (handle === undefined) throw new Error(`${addressOf(operation)} has no handler.`)
        const run = createRun(operation, handle)
        router.register(
          toPattern(operation),
          [operation.method],
          seeAnswer ? seeing(operation, run, seeAnswer) : run,
        )
      }
    },
  }

  function createRun(operation: Operation, handle: AnyHandle): (context: Context) => Promise<void> {
    const readQuery = createQueryReader(operation, document)
    const readBody = createBodyReader(operation, document)
    const isOpen = operation.roles.includes('anyone')
    const isOfAccount = operation.roles.includes('account')
    return isOpen && operation.pathParameters.length > 0 ? countingRefused(run) : run

    async function run(context: Context): Promise<void> {
      if (isOpen) await rateLimits.countVisitor(context, counterOf(operation, context))
      const caller = isOpen
        ? undefined
        : await noting(() => authenticate(context, isOfAccount)).catch((error) => {
            // An operation that is not for scripts says so to a stopped one, too.
            if (context.state.stopped !== undefined) assertRole(context.state.stopped, operation)
            throw error
          })
      if (caller !== undefined) {
        assertRole(caller, operation)
        if (operation.needsConfirmation) assertConfirmed(caller)
      }
      const query = readQuery(context, caller)
      const body = await readBody(context)
      context.status = operation.success
      const request = { caller, params: context.params, query, body, operation, context }
      const answer: unknown = await noting(() => handle(request as never))
      const { usedInstallation } = context.state
      if (operation.scope !== undefined && usedInstallation !== undefined)
        onScopeUsed(usedInstallation, operation.scope)
      if (answer !== undefined) context.body = answer
    }
  }

  /** Each guess of a token or a name has a counter of its own. All guesses of a visitor count together, too. */
  function countingRefused(run: (context: Context) => Promise<void>): (context: Context) => Promise<void> {
    return async (context) => {
      try {
        await run(context)
      } catch (error) {
        if (isAnnexError(error) && error.status < 500 && error.code !== 'rate_limited') {
          await rateLimits.countVisitor(context, nowhere)
        }
        throw error
      }
    }
  }

  async function noting<Result>(act: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await act()
    } catch (error) {
      if (error instanceof UnreachedError) onMissed([error.installationId])
      throw error
    }
  }
}

/** By the decoded parameters: `/v1/integrations/ech%6f/assets/icon` has no other counter than `echo`. */
const counterOf = ({ id }: Operation, { params }: Context): string => [id, ...Object.values(params)].join(' ')

export function roleOf(caller: Person): PersonRole
export function roleOf(caller: Caller | AccountCaller): Role
export function roleOf(caller: Caller | AccountCaller): Role {
  return caller.kind === 'organization' ? caller.role : caller.kind
}

function toPattern({ path, pathParameters }: Operation): string {
  const hasSlashes = (name: string) =>
    pathParameters.some((parameter) => parameter.name === name && parameter['x-annex-slashes'] === true)
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (hasSlashes(name) ? `*${name}` : `:${name}`))
}

/** @throws AnnexError `forbidden` */
function assertRole(caller: Caller | AccountCaller, { roles, method, path }: Operation): void {
  const role = roleOf(caller)
  if (roles.includes(role)) return
  const text = `${method} ${path} is for the roles ${roles.join(', ')}. This ${nounOf(caller)} has the role ${role}.`
  throw new AnnexError('forbidden', text)
}

/** A stolen session must not become a lasting way in. A token is not asked. @throws AnnexError `confirmation_required` */
export function assertConfirmed(caller: Caller | AccountCaller): void {
  if (!('sessionId' in caller) || Date.now() - caller.confirmedAt < confirmedMs) return
  throw new AnnexError(
    'confirmation_required',
    'This needs your password or passkey again: POST /v1/sessions/current/confirmation, then repeat the request.',
  )
}

function seeing(
  operation: Operation,
  run: (context: Context) => Promise<void>,
  seeAnswer: SeeAnswer,
): (context: Context) => Promise<void> {
  return async (context) => {
    try {
      await run(context)
    } catch (error) {
      if (isAnnexError(error)) seeAnswer(operation, error.status, undefined)
      throw error
    }
    seeAnswer(operation, context.status, context.body)
  }
}
