import type { Account } from '../../../../schemas/generated/api/accounts.ts'
import { api } from '../api.ts'
import { leaveForProvider } from '../openid.ts'
import { sayDone } from '../state.ts'
import { openid as texts } from '../texts/openid.ts'
import { texts as shared } from '../texts.ts'
import { Action } from './action.tsx'
import { useAttempt } from './attempt.ts'
import { ErrorNote } from './error-note.tsx'
import { Time } from './time.tsx'

/** The person of the OpenID provider who signs in to an account, and how to link or unlink one. */
export function OpenidLink({
  of,
  name,
  reload,
}: {
  of: Account['openid']
  /** Undefined while Annex has no provider. */
  name: string | undefined
  reload: () => void
}) {
  const { error, attempt } = useAttempt()
  if (of === null && name === undefined) return null
  const link = () => attempt(() => leaveForProvider('link', '/account'))
  const unlink = () =>
    attempt(async () => {
      await api.call('DELETE /v1/account/openid')
      sayDone(texts.unlinked)
      reload()
    })
  return (
    <>
      <h3>{texts.provider}</h3>
      {of === null ? (
        <p class="muted">{texts.linkWhat(name ?? '')}</p>
      ) : (
        <>
          <p>{(of.setsRoles ? texts.madeBy : texts.is)(name ?? of.issuer)}</p>
          <dl class="facts">
            <dt>{texts.issuer}</dt>
            <dd>{of.issuer}</dd>
            <dt>{texts.subject}</dt>
            <dd>
              <code>{of.subject}</code>
            </dd>
            <dt>{texts.since}</dt>
            <dd>
              <Time at={of.createdAt} />
            </dd>
            <dt>{texts.used}</dt>
            <dd>{of.lastUsedAt === null ? shared.never : <Time at={of.lastUsedAt} />}</dd>
          </dl>
        </>
      )}
      {error !== undefined && <ErrorNote error={error} />}
      {of?.setsRoles !== true && (
        <div>
          <Action act={of === null ? link : unlink}>
            {of === null ? texts.link(name ?? '') : texts.unlink}
          </Action>
        </div>
      )}
    </>
  )
}
