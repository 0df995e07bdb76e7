import type { Installation, TargetInstallation } from '../../api/records.ts'
import { toStatus } from '../../terminal/table.ts'
import { paint, type Terminal } from '../../terminal/terminal.ts'
import { type Level, nameLevel } from './installed-level.ts'

/** What was installed or configured, with ids, status, endpoint, and the secrets that are shown this once. */
export function printInstalled(
  terminal: Terminal,
  {
    installation,
    target,
    level,
    signingSecrets,
  }: {
    installation: Installation
    target?: TargetInstallation
    level: Level
    signingSecrets: { level: string; secret: string }[]
  },
): void {
  if (terminal.json) {
    terminal.printJson({ installation, ...(target && { target }), signingSecrets })
    return
  }
  const { integration, id } = installation
  terminal.print(paint('bold', integration), ` ${id} `, toStatus(installation.status))
  if (target !== undefined) terminal.print(`${nameLevel(level)} `, toStatus(target.status))
  terminal.print(`endpoint ${(target ?? installation).urls.publicEndpoint}`)
  for (const { level: name, secret } of signingSecrets) terminal.print(`signing secret (${name}) ${secret}`)
  if (signingSecrets.length > 0) terminal.say('Keep the signing secrets: they are shown only this once.')
  sayWhatIsMissing(terminal, installation, level, target)
}

function sayWhatIsMissing(
  terminal: Terminal,
  installation: Installation,
  level: Level,
  target?: TargetInstallation,
): void {
  const { place } = level
  if (installation.status === 'pending') {
    terminal.say(
      `The account's settings are not complete: annex configure ${installation.integration} --set name=value`,
    )
  }
  if (target?.status === 'pending' && place !== undefined) {
    const where = `--${place.object} ${place.slug}`
    terminal.say(
      `The settings of ${nameLevel(level)} are not complete: annex configure ${installation.integration} ${where} --set name=value`,
    )
  }
}
