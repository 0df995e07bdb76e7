import { spawn } from 'node:child_process'
import { accessSync, constants, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'

export type Enclosure = { command: readonly string[] } | { reason: string; fix: string }

/**
 * User, network and IPC namespaces, made without privileges. The user is 65534 and not root: with root's capabilities in
 * its namespaces the process could reach parts of the kernel (nftables, mounts) that it does not need. BusyBox can only map
 * root, so that is second.
 */
const ways = [['--user', '--map-user=65534', '--map-group=65534', '--net', '--ipc'], ['-Urn']]

/** The program takes 30 ms. A busy machine must not end with a thinner wall. */
const patienceMs = 30_000

/** Tries whether this system lets Annex make namespaces. Some systems have the program and refuse. */
export async function findEnclosure(): Promise<Enclosure> {
  if (process.platform !== 'linux') {
    return { reason: `${process.platform} has no namespaces`, fix: 'Run Annex on Linux.' }
  }
  const program = findProgram('unshare')
  if (program === undefined) {
    return { reason: 'there is no program unshare', fix: 'Install util-linux.' }
  }
  let refusal = ''
  for (const way of ways) {
    const failure = await tryWay(program, way)
    if (failure === undefined) return { command: [program, ...way, '--'] }
    refusal = failure
  }
  return { reason: refusal, fix: findFix() }
}

/** @returns undefined when it works, else the error text of the program */
async function tryWay(program: string, way: string[]): Promise<string | undefined> {
  const child = spawn(program, [...way, '--', process.execPath, '--version'], {
    env: {},
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: patienceMs,
    killSignal: 'SIGKILL',
  })
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code === 0 ? '' : `${program} ended with ${signal ?? code}`))
    child.once('error', (error) => resolve(error.message))
  })
  const [errorOutput, how] = await Promise.all([text(child.stderr), ended])
  return how === '' ? undefined : (errorOutput.trim().split('\n')[0] || how).slice(0, 200)
}

/** The fix, by the kernel switches that forbid namespaces. */
function findFix(): string {
  if (readSwitch('user/max_user_namespaces') === '0') return 'sysctl -w user.max_user_namespaces=10000'
  if (readSwitch('kernel/unprivileged_userns_clone') === '0')
    return 'sysctl -w kernel.unprivileged_userns_clone=1'
  if (readSwitch('kernel/apparmor_restrict_unprivileged_userns') === '1')
    return 'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile with "userns," for unshare'
  return 'In a container: a seccomp profile that allows unshare(CLONE_NEWUSER) and, with Docker, --security-opt seccomp=FILE.'
}

function readSwitch(name: string): string | undefined {
  try {
    return readFileSync(join('/proc/sys', name), 'utf8').trim()
  } catch {
    return undefined
  }
}

/** The whole path: a sandbox process has no PATH. */
function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/bin']
  return folders
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}
