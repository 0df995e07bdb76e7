import { spawn } from 'node:child_process'
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Duplex, PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { blackBoxBytes } from '../../../runtime/process/black-box.ts'
import { messageOf } from '../../errors.ts'
import { type ProcessorUse, readProcessorUse, readResidentBytes } from './proc.ts'

/** The process's own record of what it runs. */
export type BlackBoxRecord = { lastBegun: number; sandbox: number; dispatch: number; stretch: number }

export type StartedProcess = {
  pid: number | undefined
  /** The host's end of the socketpair. */
  stream: Duplex
  /** Settles with the signal that ended it, if a signal did. */
  exited: Promise<NodeJS.Signals | undefined>
  readBlackBox: () => BlackBoxRecord
  /** Resident memory in bytes; 0 where the system has no /proc. */
  residentBytes: () => number
  /** CPU time of the thread that runs scripts; undefined where the system has no /proc. */
  processorUse: () => ProcessorUse | undefined
  /** SIGKILL: a process inside of V8 answers no other signal. */
  kill: () => void
  /** Closes the file of the black box. */
  close: () => void
}

/** Starts a sandbox process. It calls `onErrorOutput` with the error output of the process. */
export type StartProcess = (onErrorOutput: (text: string) => void) => StartedProcess

const root = realpathSync(fileURLToPath(new URL('../../..', import.meta.url)))

// Of the machine's files a sandbox process reads the native module, and its own code where that is a file.
const readable = [
  'runtime/package.json',
  'package.json',
  'node_modules/isolated-vm/',
  'node_modules/node-gyp-build/',
].map((path) => `--allow-fs-read=${join(root, path)}`)

/** Linux: in the octal `flags` of /proc/self/fdinfo, the file is closed where another program begins. */
const closeOnExec = 0o2000000
/** Found before Annex has opened files of its own. */
const inherited = findInheritedFiles()

const sources = join(root, 'runtime/process/')
/** Needed by the sources. The built code contains them. */
const packages = ['runtime/', 'node_modules/@exodus/bytes/', 'node_modules/tr46/', 'node_modules/punycode/']

export type StartOptions = {
  /** A program and arguments that become Node: `unshare … --`. Empty: no enclosure. */
  enclosure: readonly string[]
  /** Code of `buildProcessCode`. Default: the sources, which take twice as long to start. */
  code?: string
  /** Arguments of Node in the place of `code`: tests start a process here that an attacker has taken over. */
  program?: readonly string[]
}

/**
 * Starts a sandbox process: no environment, no network, no children, no files but its own code. Never throws: where the
 * system gives no further file or process, the result is a process that has ended.
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
    // isolated-vm reads it to find out the C library.
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
  // An enclosure becomes Node without a fork: this pid is Node's, and so `kill` and the watch reach the sandbox.
  const child = spawn(command[0] ?? '', command.slice(1), {
    cwd: '/',
    env: {},
    stdio: withoutInherited([code === undefined ? 'ignore' : 'pipe', 'ignore', 'pipe', 'pipe', blackBox]),
    // A session of its own: Ctrl+C goes to the host alone, which lets scripts finish, and the process cannot open the terminal.
    detached: true,
    windowsHide: true,
  })
  // A process that ends before it has read its code writes the reason to stderr.
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
    // Undefined when the process could not be started; `error` follows.
    stream: (child.stdio?.[3] as Duplex | undefined) ?? new PassThrough(),
    exited,
    readBlackBox() {
      readSync(blackBox, record, 0, blackBoxBytes, 0)
      return toBlackBoxRecord(record)
    },
    residentBytes: () => readResidentBytes(child.pid),
    processorUse: () => readProcessorUse(child.pid),
    kill: () => {
      child.kill('SIGKILL')
    },
    close: () => closeSync(blackBox),
  }
}

export const toBlackBoxRecord = (record: Buffer): BlackBoxRecord => ({
  lastBegun: record.readUInt32LE(0),
  sandbox: record.readUInt32LE(4),
  dispatch: record.readUInt32LE(8),
  stretch: record.readUInt32LE(12),
})

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
  // Both ends keep the file open; its name is not needed.
  rmSync(folder, { recursive: true })
  return fd
}

/**
 * Files beyond the three standard streams that the parent of Annex left open: a supervisor's pipe, a socket, a lock. Node
 * closes those up to 15 in a program that it starts, and no others.
 */
function findInheritedFiles(): number[] {
  try {
    return readdirSync('/proc/self/fdinfo').map(Number).filter(isPassedOn)
  } catch {
    return []
  }
}

/** Appends a stream of /dev/null over each inherited file that lies after `own`. */
function withoutInherited<T>(own: readonly T[]): (T | number | 'ignore')[] {
  const streams: (T | number | 'ignore')[] = [...own]
  for (const fd of inherited) {
    if (fd < own.length) continue
    while (streams.length < fd) streams.push('ignore')
    streams[fd] = openDevNull()
  }
  return streams
}

let devNull: number | undefined

function openDevNull(): number {
  devNull ??= openSync('/dev/null', 'r')
  return devNull
}

function isPassedOn(fd: number): boolean {
  if (fd <= 2) return false
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    // The folder that was listed: it is closed again.
    return false
  }
}
