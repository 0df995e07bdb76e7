import type { Logger } from 'pino'
import packageJson from '../../package.json' with { type: 'json' }
import { type Commits, createCommits } from '../db/commits/group-commit.ts'
import { joinHosts, type Membership } from '../db/hosts/join-hosts.ts'
import { createNotifications, type Notifications } from '../db/hosts/notifications.ts'
import { placeOf } from '../db/hosts/place-of.ts'
import { type Database, openDatabase } from '../db/open-database.ts'
import { ownDataFolder } from '../db/own-data-folder.ts'

export type Storage = Commits & {
  database: Database
  notifications: Notifications
  /** This host among those that share the database. */
  host: Membership
  /** Names this host's data folder: the next one that starts there takes over what this one leaves. */
  place: string
}

/** Takes the data folder, opens the database, and joins the hosts that share it. `ends` gives all of it back. */
export async function openStorage(
  given: {
    databaseUrl: string
    dataDir: string
    logger: Logger
    onDefect: (error: unknown) => void
  },
  ends: AsyncDisposableStack,
): Promise<Storage> {
  const { dataDir, logger, onDefect } = given
  ends.defer(await ownDataFolder(dataDir))
  const database = await openDatabase(given.databaseUrl, dataDir)
  ends.defer(database.close)
  const { commits, claims } = createCommits(database)
  ends.defer(commits.close)
  const onBroken = (error: unknown) => logger.warn({ err: error }, 'no notifications of other hosts for now')
  const notifications = createNotifications(database, { onBroken })
  ends.defer(notifications.close)
  const place = placeOf(dataDir)
  const { version } = packageJson
  const host = await joinHosts(database, { place, version, onBeat: database.clock.adjust, onDefect })
  ends.defer(host.close)
  return { database, commits, claims, notifications, host, place }
}
