import { api } from '../../api.ts'
import type { Found, Step } from './plan.ts'

/** A signing secret is shown once: the page keeps it until it is left. */
export type Secret = { title: string; secret: string }

/** A step of a plan that failed. Those before it are done. */
export class StepError extends Error {
  override readonly name = 'StepError'
  readonly step: Step

  constructor(step: Step, options: ErrorOptions) {
    super('', options)
    this.step = step
  }
}

const installations = 'POST /v1/integrations/{integration}/installations'

/**
 * Runs the steps of a plan one after the other.
 *
 * @param onSecret gets each signing secret at once: a later step may fail
 * @throws StepError
 */
export async function runPlan(
  plan: readonly Step[],
  { organization, integration, own }: Found,
  given: { installKey: string | undefined; onSecret: (secret: Secret) => void },
): Promise<void> {
  const words = { version: integration.version?.number, scopes: integration.scopes }
  let installation = own?.installation.id ?? ''

  for (const step of plan) {
    try {
      await run(step)
    } catch (cause) {
      throw new StepError(step, { cause })
    }
  }

  async function run(step: Step): Promise<void> {
    const params = { integration: integration.name, installation }
    switch (step.kind) {
      case 'install': {
        const { installKey } = given
        const body = { organization: organization.subdomain, ...words, ...(installKey && { installKey }) }
        const made = await api.call(installations, { params: { integration: integration.name }, body })
        installation = made.id
        return given.onSecret({ title: organization.title, secret: made.signingSecret })
      }
      case 'agree':
        await api.call(`${installations}/{installation}/agreement`, { params, body: words })
        return
      case 'all': {
        const address = 'PUT /v1/integrations/{integration}/installations/{installation}/selection'
        await api.call(address, { params, body: { [step.list]: 'all' } })
        return
      }
      case 'place': {
        const { id, title } = step.place
        const made =
          step.list === 'sites'
            ? await api.call(`${installations}/{installation}/sites`, { params, body: { site: id } })
            : await api.call(`${installations}/{installation}/spaces`, { params, body: { space: id } })
        return given.onSecret({ title, secret: made.signingSecret })
      }
    }
  }
}
