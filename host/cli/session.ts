import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Settings } from '../config/load-settings.ts'
import { AnnexError } from '../errors.ts'
import { type Api, createApi } from './client.ts'
import { UsageError } from './options.ts'
import { type GlobalOptions, readSettings, surroundingsOf } from './surroundings.ts'
import { createTerminal, type Terminal } from './terminal.ts'

/** The tools of a command that calls a running Annex. */
export type Session = {
  terminal: Terminal
  api: Api
  /** Subdomain of the organization that commands use when the token sees several and none is named. */
  homeOrganization: string
}

/** @throws AnnexError `settings_invalid`, UsageError */
export function openSession(command: Command): Session {
  const { settings } = readSettings(command)
  const globals: GlobalOptions = command.optsWithGlobals()
  const server = findServer(globals, settings, globals.surroundings.env)
  return {
    terminal: openTerminal(command),
    api: createApi(server),
    homeOrganization: settings.OPERATOR_ORGANIZATION,
  }
}

/** The terminal of a command that needs no server. */
export const openTerminal = (command: Command): Terminal =>
  createTerminal(surroundingsOf(command), command.optsWithGlobals<GlobalOptions>())

export type FoundServer = { url: string; token?: string }

/**
 * Finds the Annex that a command calls, and the token for it.
 *
 * URL: --url, ANNEX_URL, the server that runs with this DATA_DIR, HOST and PORT. Token: --token, ANNEX_TOKEN,
 * ANNEX_TOKEN_FILE, the token that the running server wrote into DATA_DIR. That last token is an operator's, so only that
 * server gets it: no other server that is named, and no process that took the port after the server had ended.
 *
 * @throws UsageError for an invalid URL; AnnexError `settings_invalid` for a token file that cannot be read
 */
export function findServer(
  flags: { url?: string; token?: string },
  settings: Pick<Settings, 'DATA_DIR' | 'HOST' | 'PORT'>,
  environment: NodeJS.ProcessEnv,
): FoundServer {
  const named = flags.url || environment.ANNEX_URL
  const own = readOwnServer(settings.DATA_DIR)
  const url = named ? parseUrl(named) : (own ?? defaultUrl(settings))
  const isOwn = own !== undefined && isSameServer(url, own)
  const token =
    flags.token ||
    environment.ANNEX_TOKEN ||
    readTokenFile(environment.ANNEX_TOKEN_FILE) ||
    (isOwn ? readOwnToken(settings.DATA_DIR) : undefined)
  return { url, ...(token !== undefined && { token }) }
}

function parseUrl(text: string): string {
  const url = URL.parse(text)
  if (url !== null && /^https?:$/.test(url.protocol)) return url.origin
  throw new UsageError(`"${text}" is no address of an Annex. Write it as http://127.0.0.1:8787.`)
}

/** The address of the server that runs with this data folder. A file of a killed server is ignored. */
function readOwnServer(dataDir: string): string | undefined {
  try {
    const { url, pid } = JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8'))
    return typeof url === 'string' && isRunning(pid) ? new URL(url).origin : undefined
  } catch {
    return undefined
  }
}

function isRunning(pid: unknown): boolean {
  if (!Number.isSafeInteger(pid) || Number(pid) < 1) return false
  try {
    return process.kill(Number(pid), 0)
  } catch (error) {
    // The process runs as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function readOwnToken(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, 'cli.token'), 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}

function readTokenFile(path: string | undefined): string | undefined {
  if (!path) return undefined
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (cause) {
    throw new AnnexError('settings_invalid', `ANNEX_TOKEN_FILE: the file ${path} cannot be read.`, { cause })
  }
}

/** A server on all addresses is called on the loopback address. */
function defaultUrl({ HOST, PORT }: Pick<Settings, 'HOST' | 'PORT'>): string {
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`
}

const loopback: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

function isSameServer(a: string, b: string): boolean {
  const [one, other] = [new URL(a), new URL(b)]
  if (one.origin === other.origin) return true
  return one.port === other.port && loopback.has(one.hostname) && loopback.has(other.hostname)
}
