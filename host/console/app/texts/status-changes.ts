import type { StatusChange } from '../../../../schemas/generated/api/status-changes.ts'

/** Texts of how a status has changed. */
export const statusTexts = {
  tab: 'Status',
  what: 'Each change of the status, and why. The newest is first.',
  nothing: 'No change is kept yet.',
  kept: 'The newest 100 changes are kept until the uninstall.',
  dispatch: 'To the run of the script',
  audit: 'To the audit',
  log: 'To the log of the script',
  permissions: 'To the permissions',
  versions: 'To the versions',
  by: {
    person: 'by a person',
    token: 'with a token',
    script: 'by the script',
    system: 'by Annex',
  } satisfies Record<StatusChange['by']['kind'], string>,
} as const

/** One sentence: what has changed the status. */
export function whyChanged({ why, to, version }: Pick<StatusChange, 'why' | 'to' | 'version'>): string {
  switch (why) {
    case 'recorded':
      return 'Annex keeps the changes since then.'
    case 'installed':
      return 'Installed.'
    case 'set_up':
      return 'The script handled the setup event.'
    case 'setup_failed':
      return 'The script failed to handle the setup event.'
    case 'settings':
      return to === 'active' ? 'The settings are complete.' : 'Settings are missing or do not fit.'
    case 'version':
      return to === 'pending'
        ? `Version ${version} was deployed, and the settings do not fit it.`
        : `Version ${version} was deployed.`
    case 'agreement':
      return `The organization agreed to version ${version}.`
    case 'paused':
      return 'Paused by hand: events wait.'
    case 'resumed':
      return 'Resumed by hand.'
    case 'suspended':
      return 'Annex suspended the script.'
    case 'retired':
      return 'The plugin folder is gone: no version runs, and none asks for settings.'
    case 'secret_key':
      return to === 'active'
        ? 'The settings are encrypted with the key of Annex again.'
        : 'The settings were encrypted with another key.'
  }
}
