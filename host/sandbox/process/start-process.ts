import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Duplex, PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { blackBoxBytes } from '../../../runtime/process/black-box.ts'
import { messageOf } from '../../errors/annex-error.ts'
import { findInheritedFiles, withoutInherited } from './inherited-files.ts'
import { type ProcessorUse, readProcessorUse, readResidentBytes } from './proc.ts'

/** What a sandbox process was doing, by its own record. */
export type BlackBoxRecord = { lastBegun: number; sandbox: number; dispatch: number; stretch: number }

export type StartedProcess = {
  pid: number | undefined
  /** The host's end of the socketpair. */
  stream: Duplex
  /** Settles with the signal that ended it, if one did. */
  exited: Promise<NodeJS.Signals | undefined>
  readBlackBox: () => BlackBoxRecord
  /** Resident memory in bytes; 0 where the system has no /proc. */
  residentBytes: () => number
  /** CPU time of the thread that runs scripts; undefined where the system has no /proc. */
  processorUse: () => ProcessorUse | undefined
  /** SIGKILL: a process in V8's hands answers no other signal. */
  kill: () => void
  /** Gives the black box's file back, once its last record was read. */
  close: () => void
}

const root = realpathSync(fileURLToPath(new URL('../../..', import.meta.url)))

// The sandbox process can read the native module, and nothing else of the machine but its own code, if that is a file.
const readable = [
  'runtime/package.json',
  'package.json',
  'node_modules/isolated-vm/',
  'node_modules/node-gyp-build/',
].map((path) => `--allow-fs-read=${join(root, path)}`)

/** Looked for while Annex has opened nothing of its own that it would pass on. */
const inherited = findInheritedFiles()

const sources = join(root, 'runtime/process/')
/** What the sources need besides; in the code that is built it is already. */
const packages = ['runtime/', 'node_modules/@exodus/bytes/', 'node_modules/tr46/', 'node_modules/punycode/']

/** How a sandbox process is started. */
export type StartOptions = {
  /** A program and its arguments that end by becoming Node: `unshare … --`. Empty: nothing encloses it. */
  enclosure: readonly string[]
  /** What it runs, as `buildProcessCode` makes it. Without it, the sources: they take twice as long to start. */
  code?: string
  /** What Node is started with in its place: a test's process, as one that somebody has taken over would be. */
  program?: readonly string[]
}

/**
 * Starts a sandbox process: no environment, no network, no children, no files but its own code. Never throws: where
 * the system has no file or process left to give, the process has ended before it began.
 */
export function startProcess(
  onErrorOutput: (text: string) => void,
  options: StartOptions = { enclosure: [] },
): StartedProcess {
  try {
    return startChild(openBlackBox(), onErrorOutput, options)
  } catch (error) {
    onErrorOutput(`not started: ${messageOf(error)}`)
    return neverStarted()
  }
}

function programOf(code: string | undefined): string[] {
  return [
    '--no-node-snapshot',
    '--disable-warning=PERM0001',
    '--permission',
    '--allow-addons',
    ...readable,
    // isolated-vm looks at it to tell which C library it runs on.
    '--allow-fs-read=/etc/alpine-release',
    ...(code === undefined
      ? [...packages.map((path) => `--allow-fs-read=${join(root, path)}`), join(sources, 'main.ts')]
      : ['--input-type=commonjs', '-']),
  ]
}

function startChild(
  blackBox: number,
  onErrorOutput: (text: string) => void,
  { enclosure, code, program }: StartOptions,
): StartedProcess {
  const command = [...enclosure, process.execPath, ...(program ?? programOf(code))]
  // An enclosure becomes Node without a fork, so this is Node's pid: what is killed and measured is the sandbox.
  const child = spawn(command[0] ?? '', command.slice(1), {
    cwd: '/',
    env: {},
    stdio: withoutInherited(
      [code === undefined ? 'ignore' : 'pipe', 'ignore', 'pipe', 'pipe', blackBox],
      inherited,
    ),
    // In a session of its own: Ctrl+C is for the host, which lets scripts come to their end, and the operator's terminal is none
    // that the process could open.
    detached: true,
    windowsHide: true,
  })
  // One that ends before it has read its code says why on stderr.
  child.stdin?.on('error', () => {}).end(code)
  child.stderr?.setEncoding('utf8').on('data', onErrorOutput)
  const exited = new Promise<NodeJS.Signals | undefined>((resolve) => {
    child.once('exit', (_code, signal) => resolve(signal ?? undefined))
    child.once('error', (error) => {
      onErrorOutput(`not started: ${error.message}`)
      resolve(undefined)
    })
  })
  const record = Buffer.alloc(blackBoxBytes)
  return {
    pid: child.pid,
    // There is none when the process could not be started; `error` follows.
    stream: (child.stdio?.[3] as Duplex | undefined) ?? new PassThrough(),
    exited,
    readBlackBox() {
      readSync(blackBox, record, 0, blackBoxBytes, 0)
      return {
        lastBegun: record.readUInt32LE(0),
        sandbox: record.readUInt32LE(4),
        dispatch: record.readUInt32LE(8),
        stretch: record.readUInt32LE(12),
      }
    },
    residentBytes: () => readResidentBytes(child.pid),
    processorUse: () => readProcessorUse(child.pid),
    kill: () => {
      child.kill('SIGKILL')
    },
    close: () => closeSync(blackBox),
  }
}

function neverStarted(): StartedProcess {
  return {
    pid: undefined,
    stream: new PassThrough(),
    exited: Promise.resolve(undefined),
    readBlackBox: () => ({ lastBegun: 0, sandbox: 0, dispatch: 0, stretch: 0 }),
    residentBytes: () => 0,
    processorUse: () => undefined,
    kill: () => {},
    close: () => {},
  }
}

function openBlackBox(): number {
  const folder = mkdtempSync(join(tmpdir(), 'annex-'))
  const fd = openSync(join(folder, 'black-box'), 'w+')
  // Both ends keep the open file; nobody needs its name.
  rmSync(folder, { recursive: true })
  return fd
}
