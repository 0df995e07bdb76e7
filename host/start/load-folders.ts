import type { Logger } from 'pino'
import { systemOrigin } from '../access/actor.ts'
import type { FirstLoad, FolderLoad } from '../api/still-loading.ts'
import type { Settings } from '../config/load-settings.ts'
import { watchSpaces } from '../content/watch-spaces.ts'
import type { ContentWriter } from '../content/write-content.ts'
import { isAnnexError } from '../errors.ts'
import { noteStatusesOf, type StatusCause } from '../installations/note-status.ts'
import type { LogWriter, StoredLine } from '../logs/create-log-writer.ts'
import { toVisible } from '../manifest/message-text.ts'
import { listOwnFiles } from '../manifest/read-inside.ts'
import { loadPlugins } from '../versions/load-plugins.ts'
import type { LoadedPlugin, PluginSource } from '../versions/loaded-plugin.ts'
import { createChangeReport } from '../versions/report-changes.ts'
import { watchPlugins } from '../versions/watch-plugins.ts'

export type Folders = {
  /** As they were at the last load. During the first one: those that are loaded. */
  plugins: () => readonly LoadedPlugin[]
  /** The first load. `undefined` after it. */
  firstLoad: () => FirstLoad | undefined
  /** The load that runs now. */
  load: () => FolderLoad | undefined
  /** Reads all plugin folders and spaces: the first call begins the first load. */
  reload: () => Promise<LoadedPlugin[]>
  /** With the setting `WATCH`: loads plugin folders again when a file in them changes, and says so, and what scripts log, on stderr. */
  watch: () => void
}

const reportEveryMs = 5_000

/**
 * What lies in folders: plugins, and spaces, which are watched from their first load on.
 *
 * @param given.onLoaded plugins may be others than before
 * @param given.stop ends a load that is under way
 * @param ends waits for that load, and takes the watching down
 */
export function createFolders(
  given: {
    settings: Settings
    source: PluginSource
    content: ContentWriter
    /** Before each load. */
    readVariables: () => void
    onLoaded: () => void
    logs: LogWriter
    logger: Logger
    onDefect: (error: unknown) => void
    stop: AbortSignal
  },
  ends: AsyncDisposableStack,
): Folders {
  const { settings, source, content, logger, onDefect, stop } = given
  const spaces = watchSpaces({
    db: source.db,
    content,
    listOwnFiles: () => listOwnFiles(source.dataDir, source.pluginsDir),
    onProblems(space, problems) {
      for (const { file, line, message } of problems) {
        const location = `${toVisible(file)}${line === undefined ? '' : `:${line}`}`
        logger.warn({ space: space.id, file: location }, `problem in the folder of the space: ${message}`)
      }
    },
    onFailure: (space, error) => logger.warn({ err: error, space: space.id }, 'space not read'),
    onUnwatched: (folder, error) =>
      logger.warn({ err: error, folder }, 'folder not watched: reload reads it'),
  })
  ends.defer(spaces.close)
  let plugins: LoadedPlugin[] = []
  let first: (FirstLoad & { names: Set<string> }) | undefined = { loaded: 0, total: 0, names: new Set() }
  let current: FolderLoad | undefined
  let loading: Promise<void> = Promise.resolve()
  const reload = inTurn(async () => {
    stop.throwIfAborted()
    given.readVariables()
    const load = loadAll()
    loading = load.then(
      () => {},
      () => {},
    )
    return load
  })
  ends.defer(() => loading)
  return {
    plugins: () => plugins,
    firstLoad: () => first,
    load: () => current,
    reload,
    watch() {
      if (!settings.WATCH) return
      given.logs.follow(createLineReport({ logger, output: process.stderr }))
      const reportChanges = createChangeReport(plugins, { logger, output: process.stderr })
      let reloading: Promise<void> = Promise.resolve()
      const end = watchPlugins(settings.PLUGINS_DIR, () => {
        reloading = reload()
          .then(reportChanges)
          .catch((error) => {
            if (stop.aborted) return
            // The folder may be there again soon: the next change reads it.
            if (isAnnexError(error)) logger.warn(`plugin folders not loaded: ${error.message}`)
            else onDefect(error)
          })
      })
      ends.defer(() => end().then(() => reloading))
    },
  }

  async function loadAll(): Promise<LoadedPlugin[]> {
    const progress: FolderLoad = { loaded: 0, total: 0, folders: new Set() }
    current = progress
    const timer = setInterval(() => {
      const { loaded, total } = progress
      logger.info({ loaded, folders: total }, `loading plugin folders: ${loaded} of ${total}`)
    }, reportEveryMs)
    try {
      plugins = await loadPlugins(source, {
        signal: stop,
        onBegin: (folder) => progress.folders.add(folder),
        onFolder,
        onDeployed,
      })
      given.onLoaded()
      for (const { name = '', state } of plugins)
        if (state === 'retired') await noteStatuses(name, { why: 'retired' })
      await spaces.sync()
      first = undefined
      return plugins
    } finally {
      clearInterval(timer)
      current = undefined
    }

    async function onDeployed(name: string, version: number): Promise<void> {
      given.onLoaded()
      await noteStatuses(name, { why: 'version', version })
    }

    async function noteStatuses(name: string, cause: Omit<StatusCause, 'origin'>): Promise<void> {
      await noteStatusesOf(source.db, name, { ...cause, origin: systemOrigin }).catch(onDefect)
    }

    function onFolder(plugin: LoadedPlugin | undefined, total: number): void {
      progress.total = total
      if (plugin !== undefined) {
        progress.loaded += 1
        progress.folders.delete(plugin.folder)
      }
      if (first === undefined) return
      Object.assign(first, { loaded: progress.loaded, total })
      if (plugin === undefined) return
      plugins = [...plugins, plugin]
      if (plugin.state !== 'loaded' || plugin.name === undefined) return
      first.names.add(plugin.name)
    }
  }
}

/**
 * Runs `work` one run after the other. A call during a run gets the next run, and shares it with the calls that wait:
 * it begins after all of them, so it reads what was saved before them.
 */
function inTurn<T>(work: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  return () => {
    next ??= last.then(() => {
      next = undefined
      const run = work()
      last = run.catch(() => {})
      return run
    })
    return next
  }
}

type Output = { isTTY?: boolean; hasColors?: () => boolean; write: (text: string) => unknown }

const colors: Record<string, number> = { error: 31, warn: 33 }

/**
 * Shows what scripts log while Annex watches their folders: as text on a terminal, else as lines of the log. LOG_LEVEL
 * holds for both. Nothing of a script acts on the terminal.
 */
export function createLineReport({ logger, output }: { logger: Logger; output: Output }) {
  return (line: StoredLine): void => {
    const level = toLevel(line.level)
    if (!logger.isLevelEnabled(level)) return
    if (output.isTTY === true) output.write(`${formatLine(line, output.hasColors?.() === true)}\n`)
    else {
      const { integration, installationId, requestId, frame, text } = line
      logger[level]({ integration, installationId, requestId, frame }, text)
    }
  }
}

/** Further lines are indented: a script cannot make one look like a line of another. */
function formatLine({ integration, level, text, frame }: StoredLine, color: boolean): string {
  const shown = color ? `\x1b[${colors[level] ?? 2}m${level.padEnd(5)}\x1b[0m` : level.padEnd(5)
  const rows = text.split('\n').map(toVisible)
  const frameRows = frame === undefined ? [] : frame.split('\n')
  return `${shown} ${integration} ${[...rows, ...frameRows].join('\n    ')}`
}

const toLevel = (level: string): 'debug' | 'info' | 'warn' | 'error' =>
  level === 'error' || level === 'warn' || level === 'debug' ? level : 'info'
