import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { isApiError } from '../../../../../schemas/client.ts'
import { Action } from '../../parts/action.tsx'
import { AskAdmin } from '../../parts/ask-admin.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Icon } from '../../parts/icon.tsx'
import { PermissionList } from '../../parts/permission-list.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { texts } from '../../texts.ts'
import type { Choices } from './choices.ts'
import { describePlan, describeStep } from './describe.ts'
import { type Found, planOf, type Step, toOperation } from './plan.ts'
import { runPlan, type Secret, StepError } from './run-plan.ts'

const words = texts.install

/** Says what the version asks for. Its one button agrees, and installs in each place that was chosen. */
export function AgreeStep({
  found,
  choices,
  next,
  onSecret,
  reload,
}: {
  found: Found
  choices: Choices
  /** The address of the next step. */
  next: string
  onSecret: (secret: Secret) => void
  reload: () => void
}) {
  const { query, route } = useLocation()
  const [failed, setFailed] = useState<StepError>()
  const plan = ownPlan(found, choices)
  const refused = plan.map(toOperation).find((operation) => reasonAgainst(operation) !== undefined)
  const act = async () => {
    setFailed(undefined)
    try {
      await runPlan(plan, found, { installKey: query.installKey, onSecret })
      sayDone(plan.some(isInstall) ? words.done(describePlan(found, plan)) : words.agreedTo(toVersion(found)))
      reload()
      route(next)
    } catch (error) {
      if (!(error instanceof StepError)) throw error
      setFailed(error)
      reload()
    }
  }
  return (
    <>
      <Asked found={found} />
      {failed !== undefined && <Failure found={found} failed={failed} />}
      {plan.length === 0 ? (
        <>
          <p class="muted">{words.nothingToDo}</p>
          <a class="button main" href={next}>
            {words.toSettings}
          </a>
        </>
      ) : (
        <Action kind="main" act={act} reason={refused && reasonAgainst(refused)}>
          {labelOf(found, plan)}
        </Action>
      )}
      {refused !== undefined && <AskAdmin operation={refused} />}
    </>
  )
}

/** An editor installs in a further site while a newer version waits for an admin. */
function ownPlan(found: Found, choices: Choices): Step[] {
  const plan = planOf(found, choices)
  const rest = plan.filter(({ kind }) => kind !== 'agree')
  return rest.length > 0 && reasonAgainst('agreeToVersion') !== undefined ? rest : plan
}

const isInstall = ({ kind }: Step): boolean => kind !== 'agree'
const toVersion = ({ integration }: Found): number => integration.version?.number ?? 0

function labelOf(found: Found, plan: readonly Step[]): string {
  if (!plan.some(isInstall)) return words.agree(toVersion(found))
  const where = describePlan(found, plan)
  const agrees = plan.some(({ kind }) => kind === 'install' || kind === 'agree')
  return agrees ? words.agreeAndInstall(where) : words.install(where)
}

function Asked({ found }: { found: Found }) {
  const { integration, own } = found
  const permissions = integration.page?.permissions ?? []
  const version = toVersion(found)
  if (own === null)
    return (
      <>
        <p>{permissions.length === 0 ? words.asksNothing(version) : words.asks(version)}</p>
        <PermissionList permissions={permissions} />
      </>
    )
  const { waiting, agreed, version: running } = own.agreement
  const before = agreed?.permissions ?? []
  if (waiting === null)
    return (
      <>
        <p>{words.agreed(agreed?.version ?? running)}</p>
        <PermissionList permissions={before} />
      </>
    )
  return (
    <>
      <p>{words.newIn(waiting.version)}</p>
      <PermissionList permissions={waiting.permissions} />
      <details>
        <summary>{words.before}</summary>
        <PermissionList permissions={before} />
      </details>
      {reasonAgainst('agreeToVersion') !== undefined && <p class="muted">{words.runsOld(running)}</p>}
    </>
  )
}

function Failure({ found, failed }: { found: Found; failed: StepError }) {
  if (isApiError(failed.cause, 'agreement_missing'))
    return (
      <div class="note warning wide" role="alert">
        <Icon name="warning" />
        <div>{words.changed}</div>
      </div>
    )
  return (
    <div class="wide">
      <ErrorNote error={failed.cause} what={words.failed(describeStep(found, failed.step))} />
    </div>
  )
}
