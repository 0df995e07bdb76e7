import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import type { ScriptTokens } from '../access/script-tokens.ts'
import type { Uses } from '../access/uses.ts'
import { createChallenges } from '../accounts/challenges.ts'
import { createOpenidFlows } from '../accounts/openid-flow.ts'
import { createOpenidProvider } from '../accounts/openid-provider.ts'
import { toRoleRules } from '../accounts/openid-roles.ts'
import { createPasskeys } from '../accounts/passkeys.ts'
import { createAuthenticate } from '../api/caller.ts'
import { createReadSession } from '../api/read-session.ts'
import { type AppParts, createApp } from '../app.ts'
import type { Settings } from '../config/load-settings.ts'
import type { GroupCommit } from '../db/group-commit.ts'
import { createStorageProbe } from '../db/probe-storage.ts'
import { createHops } from '../egress/loop-guard.ts'
import type { OwnApi } from '../egress/own-api.ts'
import type { OnDefect } from '../http/errors.ts'
import type { GuardedConnections, Held } from '../http/guard-connections.ts'
import { type Listening, listen } from '../http/listen.ts'
import { createRateLimits } from '../http/rate-limits.ts'
import { createSessionCookie } from '../http/session-cookie.ts'
import type { Metrics } from '../metrics/create-metrics.ts'
import { createOAuthFlows } from '../oauth/oauth-flows.ts'
import { endpointPrefix } from '../sandbox/level-ref.ts'
import type { Notifier } from './notifier.ts'

/** The parts that are made here, from settings and the other parts. */
type Made =
  | 'authenticate'
  | 'readSession'
  | 'cookie'
  | 'ownUrl'
  | 'passkeys'
  | 'openid'
  | 'openidFlows'
  | 'roleRules'
  | 'readHops'
  | 'rateLimits'
  | 'limits'
  | 'isBehindProxy'
  | 'flows'
  | 'probeStorage'
  | 'metricsAccess'

/**
 * Answers requests: those that come to the address of this host, and those of scripts to its API.
 *
 * @throws AnnexError `settings_invalid` when the address is taken, or is not of this machine
 */
export function startApi(
  parts: Omit<AppParts, Made> & { settings: Settings; metrics: Metrics; tokens: ScriptTokens },
  given: {
    commits: GroupCommit
    hopsKey: Uint8Array
    ownApi: OwnApi
    noteUse: { token: Uses['note']; session: Uses['note'] }
    onChange: Notifier['onChange']
    onDefect: OnDefect
    logger: Logger
  },
): Promise<Listening> {
  const { settings, db, reader, box, tokens, dataDir, metrics } = parts
  const { commits, hopsKey, ownApi, noteUse, onChange, onDefect, logger } = given
  const isBehindProxy = settings.PUBLIC_URL !== ''
  const { RATE_LIMIT_TOKEN: token, RATE_LIMIT_VISITOR: visitor } = settings
  const rateLimits = createRateLimits({ token, visitor }, isBehindProxy)
  const cookie = createSessionCookie(settings.PUBLIC_URL)
  const readSession = createReadSession(reader, {
    ...{ cookie, publicUrl: settings.PUBLIC_URL, noteUse: noteUse.session, onChange },
  })
  const app = createApp(
    {
      ...parts,
      authenticate: createAuthenticate(reader, tokens, {
        ...{ limits: rateLimits, readSession, noteUse: noteUse.token, onChange },
      }),
      ...{ readSession, cookie, ownUrl: settings.PUBLIC_URL },
      passkeys: createPasskeys(createChallenges(box)),
      openid: createOpenidProvider(settings, noteProvider(logger)),
      openidFlows: createOpenidFlows(box),
      roleRules: toRoleRules(settings),
      readHops: createHops(hopsKey).read,
      rateLimits,
      limits: { bodyBytes: settings.SANDBOX_BODY_BYTES },
      isBehindProxy,
      flows: createOAuthFlows({ db, box }),
      probeStorage: createStorageProbe(commits, dataDir),
      metricsAccess: { readers: settings.METRICS_ACCESS, isBehindProxy },
    },
    onDefect,
  )
  ownApi.serve(app, (status) => metrics.observeRequest(false, status))
  const onAnswered = (request: IncomingMessage, status: number) =>
    metrics.observeRequest((request.url ?? '').startsWith(endpointPrefix), status)
  const onHeld: GuardedConnections['onHeld'] = (held, told) => logger.warn(told, heldTexts[held])
  return listen(app, settings.HOST, settings.PORT, onAnswered, { isBehindProxy, onHeld })
}

const sameReasonMs = 60_000

/** Strangers begin flows: a reason that stays is one line in a minute. */
function noteProvider(logger: Logger): (reason: string) => void {
  let last = { reason: '', at: 0 }
  return (reason) => {
    const at = performance.now()
    if (reason === last.reason && at < last.at + sameReasonMs) return
    last = { reason, at }
    logger.warn({ reason }, 'the OpenID provider does not answer as one')
  }
}

const heldTexts: Readonly<Record<Held, string>> = {
  body_pause: 'a request was ended: its body paused for too long',
  connections: 'a connection was refused: its address holds too many',
}
