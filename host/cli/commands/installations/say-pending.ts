import type { Installation, Integration, TargetInstallation } from '../../records.ts'
import type { Terminal } from '../../terminal.ts'

/** A level of an installation that has `pending` as its status. `kind` is account for the organization's own. */
export type PendingLevel = Pick<Installation | TargetInstallation, 'problems' | 'urls'> & {
  kind: 'account' | 'site' | 'space'
  /** Slug or id of the site or space; nothing for the account. */
  place?: string | undefined
}

/** Says why a level gets no events yet: a reason for each setting, and the command or the address that goes on. */
export function sayPending(
  terminal: Terminal,
  { name, configurations }: Pick<Integration, 'name' | 'configurations'>,
  { kind, place, problems = [], urls }: PendingLevel,
): void {
  const title = place === undefined ? 'account' : `${kind} ${place}`
  if (problems.length === 0) {
    terminal.say(`The ${title} waits for its setup event: annex logs ${name}`)
    return
  }
  terminal.say(`The ${title} is pending and gets no events. Its settings are not complete:`)
  for (const { path, message } of problems) terminal.say(`  ${path}: ${message}`)
  const properties = configurations[kind]?.properties ?? {}
  const callbackOf = (setting: string): string | undefined =>
    Object.hasOwn(properties, setting) ? properties[setting]?.callback_url : undefined
  const names = problems.map(({ path }) => path)
  const settable = names.filter((setting) => setting !== '' && callbackOf(setting) === undefined)
  if (settable.length > 0) {
    const command = `annex configure ${name}${place === undefined ? '' : ` --${kind} ${place}`}`
    terminal.say(`${command}${settable.map((setting) => ` --set ${setting}=…`).join('')}`)
  }
  for (const setting of names) {
    const callback = callbackOf(setting)
    if (callback !== undefined) terminal.say(`Connect ${setting} at ${urls.publicEndpoint}${callback}`)
  }
}
