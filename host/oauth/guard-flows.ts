import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import type { AnswerHead } from '../../runtime/bridge.ts'
import type { ConfigurationLevel, Manifest } from '../../schemas/generated/manifest.ts'
import { flowLifetimeMs } from '../db/queries/oauth-flows.ts'
import type { RequestTarget } from '../http/request-target.ts'
import { isFromHere } from '../http/visitor.ts'
import type { PrepareDispatch } from '../installations/prepare-dispatch.ts'
import { endpointPath, endpointPrefix, type LevelRef, parseEndpointPath } from '../sandbox/level-ref.ts'
import {
  type BoundFlow,
  type BrowserSecrets,
  type FlowLevel,
  isFlowState,
  isWithin,
  type OAuthFlows,
  refused,
} from './oauth-flows.ts'

/** The beginning of the state of the SDK's handler: `flow-state.ts` has the same text. No provider ever sees it. */
const connectionState = 'annex:connection:'

export type FlowGuardParts = {
  flows: OAuthFlows
  prepareDispatch: Pick<PrepareDispatch, 'prepare'>
  publicUrl: () => string
  /** A setting of the operator names the address, so visitors may come from anywhere. */
  isBehindProxy: boolean
}

/** A request for a script, and the host's own cookies on its answer. */
export type Routed = { level: LevelRef; requestTarget: RequestTarget; cookies: string[] }

export type FlowGuard = {
  /**
   * Sends the callback of a flow to the level where the flow began, with the script's own state. Other requests stay as
   * they are.
   *
   * @throws AnnexError `flow_refused`
   */
  route: (context: Context, asked: Omit<Routed, 'cookies'>) => Promise<Routed>
  /**
   * Refuses a provider's answer in a body. The browser sends no cookie with the form of another site, so nothing binds such an
   * answer to the browser in which its flow began.
   *
   * @param body what the script is about to get
   * @throws AnnexError `flow_refused`
   */
  refuseForm: (asked: Omit<Routed, 'cookies'>, body: Buffer | IncomingMessage) => Promise<void>
  /**
   * Replaces the state of a redirect to a provider. Other answers stay as they are.
   *
   * @throws AnnexError `flow_refused` for a connection that began without a link, or that asks for an answer by POST
   */
  leave: (context: Context, routed: Routed, head: AnswerHead) => Promise<AnswerHead>
}

/** Guards the OAuth flows of scripts, which need not know of it: their redirects and callbacks pass here. */
export function createFlowGuard({
  flows,
  prepareDispatch,
  publicUrl,
  isBehindProxy,
}: FlowGuardParts): FlowGuard {
  return {
    async route(context, { level, requestTarget }) {
      const asked = { level, requestTarget, cookies: [] }
      if (requestTarget.search === '') return asked
      const query = new URLSearchParams(requestTarget.search)
      const states = query.getAll('state')
      const state = states.find(isFlowState)
      if (state !== undefined) return resume(context, asked, state)
      const isForged = states.some((text) => text.startsWith(connectionState))
      if (isForged || (query.has('code') && (await isOfConnection(level, requestTarget)))) {
        throw refused(
          'This answer of a provider is of no connection that began here. Start it from the settings.',
        )
      }
      return asked
    },
    async refuseForm({ level, requestTarget }, body) {
      if (mayHoldCode(body) && (await isOfConnection(level, requestTarget))) throw refused(byPost)
    },
    async leave(context, routed, head) {
      const provider = providerOf(head)
      return provider === undefined ? head : guard(context, routed, head, provider)
    },
  }

  async function resume(context: Context, { level, requestTarget }: Routed, state: string): Promise<Routed> {
    context.state.isCallback = true
    const callback = { level, path: requestTarget.path, state }
    const { flow, state: scriptState } = await flows.finish(callback, browserOf(context))
    const rest = requestTarget.path.slice(endpointPath(level).length)
    const began = parseEndpointPath(flow.endpoint) ?? level
    return {
      level: began,
      requestTarget: { path: flow.endpoint + rest, search: withState(requestTarget.search, scriptState) },
      cookies: [cookieOf({ flow, browser: '' }, publicUrl())],
    }
  }

  async function guard(
    context: Context,
    { level, requestTarget, cookies }: Routed,
    head: AnswerHead,
    provider: URL,
  ): Promise<AnswerHead> {
    if (level.kind === 'integration') return head
    const query = provider.searchParams
    const state = query.get('state')
    const rest = requestTarget.path.slice(endpointPath(level).length)
    const browser = browserOf(context)
    const opened = browser.size === 0 ? undefined : await flows.findOpened(level, browser)
    const isOpened = opened !== undefined && (opened.stateHash === null || isAt(rest, opened.path))
    const isAuthorization = query.has('client_id')
    if (!isAuthorization && !(isOpened && state !== null)) return head
    const isConnection = state?.startsWith(connectionState) || (await isOfConnection(level, requestTarget))
    if (!isOpened && !isConnection) return head
    if (query.getAll('client_id').some((id) => ['', 'undefined', 'null'].includes(id)))
      throw refused(noClient)
    if (query.getAll('response_mode').some((mode) => /form_post/i.test(mode))) throw refused(byPost)
    const flow = isOpened ? opened : await beginHere(context, { level, rest, cookies })
    const callback = callbackOf(query.get('redirect_uri'), level)
    const location = new URL(provider)
    location.search = withState(provider.search, await flows.start(flow, { state, callback }))
    return {
      ...head,
      headers: head.headers.map((header) => (isLocation(header) ? [header[0], location.href] : header)),
    }
  }

  /**
   * A flow without a link would let any visitor connect an account of their own to a stranger's installation. Only a person at
   * this machine may begin one.
   */
  async function beginHere(
    context: Context,
    { level, rest, cookies }: { level: FlowLevel; rest: string; cookies: string[] },
  ) {
    if (isBehindProxy || !isFromHere(context.req) || !isOwnNavigation(context)) {
      const command = connectCommand(level, rest)
      throw refused(
        `A connection of ${level.integration} starts in the settings of its installation: \`${command}\` answers a link for it.`,
      )
    }
    const begun = await flows.begin(level, rest)
    cookies.push(cookieOf(begun, publicUrl()))
    return begun.flow
  }

  /** True for the `callback_url` of a button, a path below it, and a redirect address of an earlier flow. */
  async function isOfConnection(level: LevelRef, { path }: RequestTarget): Promise<boolean> {
    const { manifest } = (await prepareDispatch.prepare(level)).records
    const rest = path.slice(endpointPath(level).length)
    if (buttonPaths(manifest).some((button) => isAt(rest, button))) return true
    return flows.isCallback(level.integration, path)
  }

  /** The path of a redirect address at this Annex. @throws AnnexError `flow_refused` when the level cannot get a callback there */
  function callbackOf(redirectUri: string | null, level: LevelRef): string | null {
    const address = URL.parse(redirectUri ?? '')
    if (address === null || address.origin !== new URL(publicUrl()).origin) return null
    const answering = parseEndpointPath(address.pathname)
    if (answering !== undefined && isWithin(endpointPath(level), endpointPath(answering)))
      return address.pathname
    throw refused(`The redirect address ${redirectUri} belongs to another level than ${endpointPath(level)}.`)
  }
}

/** Visitors choose `path`, and people copy the command. */
function connectCommand(level: FlowLevel, path: string): string {
  const levelFlag = level.kind === 'installation' ? '' : ` --${level.kind} ${level.placeId}`
  return `npx annex connect ${level.installationId}${levelFlag} --path ${/^[\w./-]+$/.test(path) ? path : '/…'}`
}

const byPost =
  'A provider must send its answer in the address of a GET: ask it for response_mode=query. Annex takes no answer by POST (form_post).'

const noClient =
  'The integration leads to its provider without a client_id. Set the secret or the setting that has it: npx annex problems'

/**
 * True for a form with a field `code`. The content type proves nothing: a script may read any text as a form. A long body and
 * one of several parts are not parsed, and no provider sends them.
 */
function mayHoldCode(body: Buffer | IncomingMessage): boolean {
  if (!Buffer.isBuffer(body)) return true
  if (!body.includes('code') && !body.includes('%')) return false
  const text = body.toString('latin1')
  return /name\s*=\s*["']?code\b/i.test(text) || new URLSearchParams(text).has('code')
}

const isLocation = ([name]: readonly [string, string]): boolean => name.toLowerCase() === 'location'

/** The address to which a redirect leads, if it is a whole one. */
export function providerOf({ status, headers }: AnswerHead): URL | undefined {
  if (status < 300 || status > 399) return undefined
  const address = URL.parse(headers.find(isLocation)?.[1] ?? '')
  return address?.protocol === 'https:' || address?.protocol === 'http:' ? address : undefined
}

const buttonPaths = ({ configurations = {} }: Manifest): string[] =>
  Object.values(configurations)
    .flatMap(({ properties = {} }: ConfigurationLevel) => Object.values(properties))
    .flatMap((property) => (property.type === 'button' ? [property.callback_url] : []))

/**
 * True when a path is another one, ends with it, or goes on below it. Scripts compare paths in many ways, such as
 * `endsWith`, so letter case, encoding and what stands before count for nothing.
 */
function isAt(path: string, other: string): boolean {
  const [given, known] = [plainPath(path), plainPath(other)]
  return known === '/' ? given === '/' : given.includes(known)
}

function plainPath(path: string): string {
  const [way = ''] = path.split(/[?#]/)
  let decoded = way
  try {
    decoded = decodeURIComponent(way)
  } catch {
    // A path with broken escapes is compared as it is.
  }
  return `${decoded.toLowerCase()}/`.replace(/\/+/g, '/')
}

/** Replaces `state` in a query, and leaves the rest byte for byte: some providers do not read `+` as a space. */
function withState(search: string, state: string | null): string {
  const nameOf = (pair: string) => new URLSearchParams(pair).keys().next().value
  const pairs = search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && nameOf(pair) !== 'state')
  if (state !== null) pairs.push(`state=${encodeURIComponent(state)}`)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

const cookiePrefix = 'annex-'

/** The host's cookie of a flow. Without a secret it ends the cookie. `toRequestText` hides it from scripts. */
export function cookieOf({ flow, browser }: BoundFlow, publicUrl: string): string {
  const path = endpointPrefix + flow.integration
  const seconds = browser === '' ? 0 : flowLifetimeMs / 1000
  const secure = publicUrl.startsWith('https:') ? '; Secure' : ''
  return `${cookiePrefix}${flow.id}=${browser}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
}

/** A browser holds few flows of an integration at once. */
const maxCookies = 20

function browserOf({ req }: Context): BrowserSecrets {
  const pairs = (req.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='))
  const own = pairs.flatMap(([name = '', value = '']): [string, string][] =>
    name.startsWith(`${cookiePrefix}flow_`) ? [[name.slice(cookiePrefix.length), value]] : [],
  )
  return new Map(own.slice(-maxCookies))
}

/** False when the page of another site has led a browser here. */
function isOwnNavigation({ req }: Context): boolean {
  const site = req.headers['sec-fetch-site']
  return site === undefined || site === 'none' || site === 'same-origin'
}
