import type { ListedInstallation } from '../../../schemas/generated/api/installations.ts'
import type { InstallationAgreement } from '../../../schemas/generated/api/versions.ts'

/** `waiting`: a newer version waits for the agreement of the organization, in the words of the problem. */
export type Installed = Pick<ListedInstallation, 'id' | 'integration' | 'status'> & { waiting?: string }

export type OwnInstallation = { installation: ListedInstallation; agreement: InstallationAgreement }

/** A new version comes before all else: it waits for a person. */
export const stateOf = ({ status, waiting }: Installed): string =>
  waiting === undefined ? status : 'waiting'
