import { createHmac, randomBytes } from 'node:crypto'
import type { Db } from '../db/db.ts'
import { isInstallLink } from '../db/queries/install-links.ts'
import type { SecretBox } from './secret-box.ts'
import { hashOf } from './tokens.ts'

/** The prefix lets logs and scanners find a leaked key. */
export const createInstallKey = (): string => `annex_link_${randomBytes(24).toString('base64url')}`

export const isInstallKey = async (db: Db, integration: string, key: string | undefined): Promise<boolean> =>
  key !== undefined && isInstallLink(db, integration, hashOf(key))

const imageKeyLength = 22

/**
 * A part of the addresses of an integration's images: a page sends no token for its images, and the addresses of a private or
 * unlisted integration must not be guessed.
 */
export const imageKeyOf = (box: Pick<SecretBox, 'deriveKey'>, integration: string): string =>
  createHmac('sha256', box.deriveKey('addresses of images'))
    .update(integration)
    .digest('base64url')
    .slice(0, imageKeyLength)
