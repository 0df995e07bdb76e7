import type { Command } from 'commander'
import { loadSettings } from '../config/load-settings.ts'
import { findServer } from './api/find-server.ts'
import { createTransfer, type Transfer } from './api/transfer.ts'
import { type Api, createApi } from './client.ts'
import { createTerminal, type Terminal } from './terminal.ts'

/** What a command that talks to a running Annex works with. */
export type Session = {
  terminal: Terminal
  api: Api
  transfer: Transfer
  /** Subdomain of the organization that is meant when none is named and there are several. */
  homeOrganization: string
}

/** The options that every command takes, before or after its name. */
export type GlobalOptions = { url?: string; token?: string; json?: boolean; color?: boolean }

/** @throws AnnexError `settings_invalid`, UsageError */
export function openSession(command: Command): Session {
  const { settings } = loadSettings()
  const globals: GlobalOptions = command.optsWithGlobals()
  const server = findServer(globals, settings, process.env)
  return {
    terminal: openTerminal(command),
    api: createApi(server),
    transfer: createTransfer(server),
    homeOrganization: settings.OPERATOR_ORGANIZATION,
  }
}

/** For a command that needs no server. */
export const openTerminal = (command: Command): Terminal =>
  createTerminal(process, command.optsWithGlobals<GlobalOptions>())
