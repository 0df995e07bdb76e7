import type { SecretBox } from '../access/secret-box.ts'
import { createSecret, hashOf } from '../access/tokens.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import type { Actor } from '../db/queries/audit.ts'
import {
  findFlowByState,
  findLink,
  findRunningFlows,
  flowLifetimeMs,
  insertFlow,
  isCallback,
  type OAuthFlow,
  openFlow,
  startFlow,
  useFlow,
} from '../db/queries/oauth-flows.ts'
import { AnnexError } from '../errors.ts'
import { endpointPath, type LevelRef } from '../sandbox/level-ref.ts'

/** An installation, or its site or space installation. */
export type FlowLevel = Exclude<LevelRef, { kind: 'integration' }>

/** A flow, and the secret that its browser keeps. */
export type BoundFlow = { flow: OAuthFlow; browser: string }

/** The secrets of a request's cookies, by the id of their flow. */
export type BrowserSecrets = ReadonlyMap<string, string>

/**
 * The OAuth flows of levels (RFC 6749, 4.1). A flow is bound to a level and a browser, and ends after ten minutes. Its
 * link, its browser and its state are random, and stored as hashes: any host of a database takes the next step.
 */
export type OAuthFlows = {
  /** Makes a link that works once. */
  createLink: (transaction: Db, level: FlowLevel, path: string, maker: LinkMaker) => Promise<Link>
  /** The flow of a link, which stays unopened. @throws AnnexError `flow_refused` */
  look: (token: string) => Promise<OAuthFlow>
  /** Binds the flow of a link to a new browser secret. @throws AnnexError `flow_refused` */
  open: (token: string) => Promise<BoundFlow>
  /** Begins a flow without a link. */
  begin: (level: FlowLevel, path: string) => Promise<BoundFlow>
  /** The running flow of a level that this browser has opened. */
  findOpened: (level: FlowLevel, browser: BrowserSecrets) => Promise<OAuthFlow | undefined>
  /** Exchanges the script's state for a new one. */
  start: (flow: OAuthFlow, given: { state: string | null; callback: string | null }) => Promise<string>
  /** Ends the flow of a callback, once. @throws AnnexError `flow_refused` */
  finish: (callback: Callback, browser: BrowserSecrets) => Promise<{ flow: OAuthFlow; state: string | null }>
  /** True for a path that an earlier flow of the integration has named as its redirect address. */
  isCallback: (integration: string, path: string) => Promise<boolean>
}

export type Link = { id: string; token: string; expiresAt: number }

/** The holder of the token that makes a link. */
export type LinkMaker = { actor: Actor; name: string }

/** A request with the state of a flow: the level of its endpoint, its path, and the state. */
export type Callback = { level: LevelRef; path: string; state: string }

const statePrefix = 'annex-'
const statePattern = /^annex-[\w-]{43}$/

/** True for a text with the form of a state that `start` makes. */
export const isFlowState = (text: string): boolean => statePattern.test(text)

export function createOAuthFlows({ db, box }: { db: Db; box: SecretBox }): OAuthFlows {
  const expiry = () => nowOf(db) + flowLifetimeMs
  return {
    async createLink(transaction, level, path, { actor, name }) {
      const token = createSecret()
      const { id, expiresAt } = await insertFlow(transaction, {
        ...flowOf(level, path),
        linkHash: hashOf(token),
        ...{ makerKind: actor.kind, makerId: actor.id, maker: name },
      })
      return { id, token, expiresAt }
    },
    async look(token) {
      const flow = await findLink(db, hashOf(token))
      if (flow !== undefined) return flow
      throw refused(usedLink)
    },
    async open(token) {
      const browser = createSecret()
      const flow = await openFlow(db, hashOf(token), hashOf(browser))
      if (flow !== undefined) return { flow, browser }
      throw refused(usedLink)
    },
    async begin(level, path) {
      const browser = createSecret()
      const flow = await insertFlow(db, { ...flowOf(level, path), browserHash: hashOf(browser) })
      return { flow, browser }
    },
    async findOpened(level, browser) {
      const flows = await findRunningFlows(db, endpointPath(level), [...browser.keys()])
      return flows.find((flow) => isOf(flow, browser))
    },
    async start(flow, { state, callback }) {
      const own = statePrefix + createSecret()
      const scriptState = state === null ? null : box.seal(state)
      await startFlow(db, flow, { stateHash: hashOf(own), scriptState, callback })
      return own
    },
    async finish({ level, path, state }, browser) {
      const flow = await findFlowByState(db, hashOf(state))
      if (flow === undefined || flow.integration !== level.integration) {
        throw refused(`The parameter "state" is of no connection of ${level.integration}. ${startAgain}`)
      }
      const reason = whyRefused(flow, { endpoint: endpointPath(level), path, now: nowOf(db) }, browser)
      if (reason !== undefined) throw refused(`${reason} ${startAgain}`)
      if (!(await useFlow(db, flow.id))) throw refused(`${usedBefore} ${startAgain}`)
      return { flow, state: flow.scriptState === null ? null : box.open(flow.scriptState) }
    },
    isCallback: (integration, path) => isCallback(db, integration, path),
  }

  function flowOf(level: FlowLevel, path: string) {
    const { integration, installationId } = level
    return { integration, installationId, endpoint: endpointPath(level), path, expiresAt: expiry() }
  }
}

const startAgain = 'Start the connection again from the settings.'
const usedLink = 'This link was opened before, or is older than ten minutes. Make a new one in the settings.'
const usedBefore = 'This answer of the provider was used before.'

export const refused = (message: string): AnnexError => new AnnexError('flow_refused', message)

const isOf = ({ id, browserHash }: OAuthFlow, browser: BrowserSecrets): boolean => {
  const secret = browser.get(id)
  return secret !== undefined && hashOf(secret) === browserHash
}

/** A code may be stolen, aimed at another level, or slipped to another person. Each check ends one of these attacks. */
function whyRefused(
  flow: OAuthFlow,
  { endpoint, path, now }: { endpoint: string; path: string; now: number },
  browser: BrowserSecrets,
): string | undefined {
  if (flow.usedAt !== null) return usedBefore
  if (flow.expiresAt <= now) return 'The connection took longer than ten minutes.'
  if (!isOf(flow, browser)) return 'The connection began in another browser, or at another host name.'
  if (!isWithin(flow.endpoint, endpoint))
    return 'The connection began at another installation, site or space.'
  if (flow.callback !== null && flow.callback !== path) return 'The connection has another redirect address.'
  return undefined
}

/** True when `endpoint` is that of `level`, or below it. */
export const isWithin = (endpoint: string, level: string): boolean =>
  endpoint === level || endpoint.startsWith(`${level}/`)
