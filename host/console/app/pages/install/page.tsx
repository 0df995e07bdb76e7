import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import { Head } from '../../parts/head.tsx'
import { IntegrationIcon } from '../../parts/integration-icon.tsx'
import { Loaded } from '../../parts/state.tsx'
import { texts } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'
import { AgreeStep } from './agree-step.tsx'
import { readChoices, readStep, type StepName, stepNames, toQuery } from './choices.ts'
import { describeWhere } from './describe.ts'
import type { Found } from './plan.ts'
import { readFound } from './read-found.ts'
import type { Secret } from './run-plan.ts'
import { SettingsStep } from './settings-step.tsx'
import { Step } from './step.tsx'
import { WhereStep } from './where-step.tsx'

const words = texts.install

/** Installs in three steps on one page. What was chosen, and the step, are in the address. */
export default function InstallPage() {
  const { params, query } = useRoute()
  const { org = '', integration: name = '' } = params
  const { installKey } = query
  const [secrets, setSecrets] = useState<readonly Secret[]>([])
  const found = useLoad(`to install ${org} ${name} ${installKey}`, (signal) =>
    readFound(org, name, installKey, signal),
  )
  const { integration, organization } = found.value ?? {}
  const title = integration?.title ?? name
  const base = `/orgs/${org}/integrations/${encodeURIComponent(name)}`
  const addressOf = (given: Parameters<typeof toQuery>[1]) => `${base}/install?${toQuery(query, given)}`
  const key = installKey === undefined ? '' : `?${new URLSearchParams({ installKey })}`
  return (
    <>
      <Head
        title={words.title(title)}
        icon={integration && <IntegrationIcon title={title} icon={integration.icon} />}
        crumbs={[
          { label: org, href: `/orgs/${org}` },
          { label: texts.catalogue.title, href: `/orgs/${org}/integrations` },
          { label: title, href: base + key },
          { label: words.crumb },
        ]}
      >
        {organization && words.what(organization.title)}
      </Head>
      <Loaded of={found}>
        {(value) =>
          value.integration.version === null && value.own === null ? (
            <p class="note warning">{texts.integration.noVersion}</p>
          ) : (
            <Steps
              found={value}
              current={readStep(query)}
              addressOf={addressOf}
              secrets={secrets}
              onSecret={(secret) => setSecrets((before) => [...before, secret])}
              reload={found.reload}
            />
          )
        }
      </Loaded>
    </>
  )
}

function Steps({
  found,
  current,
  addressOf,
  secrets,
  onSecret,
  reload,
}: {
  found: Found
  current: StepName
  addressOf: (given: Parameters<typeof toQuery>[1]) => string
  secrets: readonly Secret[]
  onSecret: (secret: Secret) => void
  reload: () => void
}) {
  const { query } = useRoute()
  const choices = readChoices(query)
  // Settings come after the installation: a link that was handed on may come before it.
  const shown = current === 'settings' && found.own === null ? 'agree' : current
  const at = stepNames.indexOf(shown)
  const agreedVersion = found.own?.agreement.agreed?.version
  const stateOf = (name: StepName) => {
    const index = stepNames.indexOf(name)
    return index < at ? 'done' : index === at ? 'now' : 'later'
  }
  return (
    <ol class="steps">
      <Step
        number={1}
        state={stateOf('where')}
        title={words.steps.where}
        summary={describeWhere(found, choices)}
        change={addressOf({ step: 'where' })}
      >
        <WhereStep found={found} choices={choices} addressOf={addressOf} />
      </Step>
      <Step
        number={2}
        state={stateOf('agree')}
        title={words.steps.agree}
        summary={agreedVersion === undefined ? words.laterAgree : words.agreed(agreedVersion)}
        change={addressOf({ step: 'agree' })}
      >
        <AgreeStep
          found={found}
          choices={choices}
          next={addressOf({ step: 'settings' })}
          onSecret={onSecret}
          reload={reload}
        />
      </Step>
      <Step number={3} state={stateOf('settings')} title={words.steps.settings} summary={words.notYet}>
        <SettingsStep found={found} choices={choices} secrets={secrets} />
      </Step>
    </ol>
  )
}
