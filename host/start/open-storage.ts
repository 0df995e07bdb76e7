import type { Logger } from 'pino'
import { createGroupCommit, type GroupCommit } from '../db/group-commit.ts'
import { hostIdentity } from '../db/host-identity.ts'
import { createNotifications, type Notifications } from '../db/notifications.ts'
import { type Database, openDatabase } from '../db/open-database.ts'
import { ownDataFolder } from '../db/own-data-folder.ts'

export type Storage = {
  database: Database
  commits: GroupCommit
  notifications: Notifications
  /** Names this host's data folder. The next host that starts there ends the claims that this one leaves. */
  hostId: string
}

/** Locks the data folder and opens the database. `ends` gives both back. */
export async function openStorage(
  given: {
    databaseUrl: string
    dataDir: string
    logger: Logger
  },
  ends: AsyncDisposableStack,
): Promise<Storage> {
  const { dataDir, logger } = given
  ends.defer(await ownDataFolder(dataDir))
  const database = await openDatabase(given.databaseUrl, dataDir)
  ends.defer(database.close)
  const commits = createGroupCommit(database.db)
  ends.defer(commits.close)
  const onBroken = (error: unknown) => logger.warn({ err: error }, 'no notifications of other hosts for now')
  const notifications = createNotifications(database, { onBroken })
  ends.defer(notifications.close)
  return { database, commits, notifications, hostId: hostIdentity(dataDir) }
}
