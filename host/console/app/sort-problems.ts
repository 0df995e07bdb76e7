import type { Problem } from '../../../schemas/generated/api/problems.ts'

export type Problems = {
  org: string
  /** Those of the organization, and those of this Annex as a whole for an operator. */
  here: Problem[]
  /** How many an operator has in other organizations, by their subdomains. */
  elsewhere: Map<string, number>
}

export function toProblems(org: string, items: readonly Problem[]): Problems {
  const isHere = ({ organization, organizationSubdomain }: Problem) =>
    organization === null || organization === org || organizationSubdomain === org
  const elsewhere = new Map<string, number>()
  for (const one of items) {
    const name = one.organizationSubdomain ?? ''
    if (!isHere(one)) elsewhere.set(name, (elsewhere.get(name) ?? 0) + 1)
  }
  return { org, here: items.filter(isHere), elsewhere }
}

/** The ids of the operations that mend problems: the role that each needs is known by its id. */
export const idsOfFixes: Readonly<Record<string, string>> = {
  'POST /v1/receivers/{receiver}/resume': 'resumeReceiver',
  'POST /v1/integrations/{integration}/resume': 'resumeIntegration',
  'POST /v1/integrations/{integration}/installations/{installation}/resume': 'resumeInstallation',
  'POST /v1/integrations/{integration}/installations/{installation}/configuration/{property}/connect':
    'connectInstallationSetting',
  'POST /v1/reload': 'reloadFolders',
}
