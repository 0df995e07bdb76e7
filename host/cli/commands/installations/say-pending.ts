import type { Integration } from '../../api/records.ts'
import type { Terminal } from '../../terminal/terminal.ts'

/** A level of an installation that has `pending` as its status. `kind` is account for the organization's own. */
export type PendingLevel = {
  kind: 'account' | 'site' | 'space'
  /** Slug or id of the site or space; nothing for the account. */
  place?: string | undefined
  configuration: Record<string, unknown>
}

/** Says what a level waits for before it gets events, with the command that goes on. */
export function sayPending(
  terminal: Terminal,
  { name, configurations }: Pick<Integration, 'name' | 'configurations'>,
  { kind, place, configuration }: PendingLevel,
): void {
  const declared = configurations[kind]
  const properties = Object.entries(declared?.properties ?? {})
  const settable = properties.filter(([, { type }]) => type !== undefined).map(([setting]) => setting)
  const missing = (declared?.required ?? []).filter((setting) => !Object.hasOwn(configuration, setting))
  const title = place === undefined ? 'account' : `${kind} ${place}`
  const command = `annex configure ${name}${place === undefined ? '' : ` --${kind} ${place}`}`
  const set = (settings: string[]) => settings.map((setting) => ` --set ${setting}=…`).join('')
  if (declared === undefined || (properties.length === 0 && declared.componentId === undefined)) {
    terminal.say(`The ${title} waits for its setup event: annex logs ${name}`)
  } else if (missing.length > 0) {
    terminal.say(`The ${title} lacks the settings ${missing.join(', ')}: ${command}${set(missing)}`)
    terminal.say('No events until then.')
  } else if (settable.length > 0) {
    const [first = ''] = settable
    terminal.say(
      `Confirm the settings of the ${title} once: ${command}${set([first])}; no events until then.`,
    )
  } else {
    terminal.say(`The settings of the ${title} are to be confirmed once, over the API; no events until then.`)
  }
}
