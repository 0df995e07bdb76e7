import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Duplex, PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { blackBoxBytes } from '../../../runtime/process/black-box.ts'
import { messageOf } from '../../errors/annex-error.ts'

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
  /** SIGKILL: a process in V8's hands answers no other signal. */
  kill: () => void
  /** Gives the black box's file back, once its last record was read. */
  close: () => void
}

const root = realpathSync(fileURLToPath(new URL('../../..', import.meta.url)))

// The sandbox process can read its own code and the native module, and nothing else of the machine.
const readable = [
  'runtime/process/',
  'runtime/package.json',
  'package.json',
  'node_modules/isolated-vm/',
  'node_modules/node-gyp-build/',
].map((path) => `--allow-fs-read=${join(root, path)}`)

/** What Node is started with. A test puts a process in its place that somebody has taken over. */
export type SandboxProgram = readonly string[]

const sandboxProgram: SandboxProgram = [
  '--no-node-snapshot',
  '--disable-warning=PERM0001',
  '--permission',
  '--allow-addons',
  ...readable,
  // isolated-vm looks at it to tell which C library it runs on.
  '--allow-fs-read=/etc/alpine-release',
  join(root, 'runtime/process/main.ts'),
]

/**
 * Starts a sandbox process: no environment, no network, no children, no files but its own code. Never throws: where
 * the system has no file or process left to give, the process has ended before it began.
 */
export function startProcess(
  onErrorOutput: (text: string) => void,
  program: SandboxProgram = sandboxProgram,
): StartedProcess {
  try {
    return startChild(openBlackBox(), onErrorOutput, program)
  } catch (error) {
    onErrorOutput(`not started: ${messageOf(error)}`)
    return neverStarted()
  }
}

function startChild(
  blackBox: number,
  onErrorOutput: (text: string) => void,
  program: SandboxProgram,
): StartedProcess {
  const child = spawn(process.execPath, [...program], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', blackBox],
    detached: false,
  })
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

const pageBytes = 4096

function readResidentBytes(pid: number | undefined): number {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
    return pages * pageBytes
  } catch {
    return 0
  }
}
