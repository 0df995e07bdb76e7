import type { Installation, Integration, TargetInstallation } from '../../records.ts'
import { toStatus } from '../../terminal/table.ts'
import { paint, type Terminal } from '../../terminal.ts'
import { type Level, nameLevel } from './installed-level.ts'
import { sayPending } from './say-pending.ts'

/** What was installed or configured, with ids, status, endpoint, and the secrets that are shown this once. */
export function printInstalled(
  terminal: Terminal,
  {
    integration: declared,
    installation,
    target,
    level,
    signingSecrets,
  }: {
    integration: Integration
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
  if (installation.status === 'pending') sayPending(terminal, declared, { ...installation, kind: 'account' })
  const { place } = level
  if (target?.status === 'pending' && place !== undefined) {
    sayPending(terminal, declared, { ...target, kind: place.object, place: place.slug })
  }
}
