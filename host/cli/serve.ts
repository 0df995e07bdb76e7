import { flushCompileCache } from 'node:module'
import type { Command } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { AnnexError, isAnnexError } from '../errors.ts'
import type { RunningServer } from '../server.ts'
import { printBanner } from './banner.ts'
import { listenForStop, signalExitCodes } from './exit.ts'
import { withExamples } from './options.ts'
import { openTerminal } from './session.ts'
import { readSettings } from './surroundings.ts'
import type { Terminal } from './terminal.ts'

const { version } = packageJson

type Options = { port?: string; host?: string; watch?: boolean }

export function addServe(program: Command): void {
  const command = program
    .command('serve')
    .description('start Annex; its log goes to stderr')
    .option('--port <number>', 'port to listen on; 0: a free one (PORT)')
    .option('--host <address>', 'address to listen on (HOST)')
    .option('--watch', 'reload a plugin folder when one of its files changes (WATCH)')
    .action(serve)
  withExamples(command, ['annex serve', 'annex serve --port 0 --watch', 'LOG_LEVEL=warn annex serve --json'])
}

async function serve(options: Options, command: Command): Promise<void> {
  // A file or a journal gets lines of JSON, as with --json.
  const terminal = { ...openTerminal(command), ...(process.stdout.isTTY ? {} : { json: true }) }
  // Annex runs without a banner too: stdout may be a file on a full disk.
  process.stdout.on('error', () => {})
  const stop = listenForStop((code) => process.exit(code))
  const stopping = new AbortController()
  const stopped = stop.first.then((signal) => {
    if (process.stderr.isTTY) terminal.say(`\n${signal}: stopping. Press again to stop at once.`)
    stopping.abort()
    return signal
  })
  const server = await start(command, options, stopping.signal).catch(async (error) => {
    if (!stopping.signal.aborted) throw error
    terminal.setExitCode(signalExitCodes[await stopped])
  })
  if (server === undefined) return
  announce(terminal, server)
  // The first visitor need not wait for the build.
  void server.console.load().catch((error) => server.logger.error(error.message))
  // Node writes this cache at its end. A killed process would leave none, and the next start would be slower.
  flushCompileCache()
  const signal = await stopped
  server.logger.info({ version, signal }, 'stopping')
  await server.close()
  server.logger.info({ version, signal }, 'stopped')
  terminal.setExitCode(signalExitCodes[signal])
}

async function start(
  command: Command,
  { port, host, watch }: Options,
  signal: AbortSignal,
): Promise<RunningServer> {
  const loaded = readSettings(command, { PORT: port, HOST: host, WATCH: watch ? 'true' : undefined })
  // Other commands start faster without the host.
  const { startServer } = await import('../server.ts')
  return startServer(loaded, { signal }).catch((error) => {
    throw isTakenPort(error) ? new AnnexError('unavailable', error.message, { cause: error }) : error
  })
}

/** A taken port is a failure of this start, not an invalid setting: exit code 1, not 3. */
const isTakenPort = (error: unknown): error is AnnexError =>
  isAnnexError(error) && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE'

function announce(terminal: Terminal, server: RunningServer): void {
  if (!terminal.json) return printBanner(terminal, server)
  const { url, setupToken, setupUrl, plugins, samples, wall } = server
  terminal.printJsonLine({
    url,
    pid: process.pid,
    ...(setupToken !== undefined && { setupToken, setupUrl }),
    samples,
    levels: Object.fromEntries(wall.levels.map(({ name, reached }) => [name, reached])),
    plugins: plugins.map(({ folder, name, version, state, note }) => ({
      folder,
      name,
      version,
      state,
      note,
    })),
  })
}
