import type { Attempt } from '../../../runtime/process/probe.ts'
import { AnnexError } from '../../errors.ts'
import { explainFailure } from './explain-failure.ts'
import { type Enclosure, findEnclosure } from './find-enclosure.ts'
import { levelNames, type Wall, type WallLevel } from './levels.ts'
import { type ProbeFailure, type ProbeResult, runProbe } from './run-probe.ts'

/**
 * Tries the wall on this machine: a real sandbox process tries to break each level.
 *
 * @param probe the code of that process
 * @param found the enclosure. Default: `findEnclosure`
 */
export async function tryWall(probe: string, found?: Enclosure): Promise<Wall | ProbeFailure> {
  const enclosure = found ?? (await findEnclosure())
  if (!('command' in enclosure)) return tryWith(probe, [], enclosure)
  const enclosed = await tryWith(probe, enclosure.command, enclosure)
  if (!('how' in enclosed) || enclosed.hung) return enclosed
  // The namespaces can be made, but Annex's own files may not be readable in them; or no process starts at all.
  const reason = `a sandbox process does not start in it: ${enclosed.errorOutput.trim().split('\n')[0] || enclosed.how}`
  const fix = 'Let the user that runs Annex own its files, and the folders above them be readable for all.'
  return tryWith(probe, [], { reason: reason.slice(0, 300), fix })
}

/**
 * Tries the wall, and refuses to start where it is incomplete.
 *
 * @param probe the code of a sandbox process that tries the wall
 * @param required levels that the operator requires (SANDBOX_REQUIRE)
 * @param found the enclosure. Default: `findEnclosure`
 * @throws AnnexError `sandbox_unavailable`, which names the fix
 */
export async function reachWall(
  probe: string,
  required: readonly string[],
  found?: Enclosure,
): Promise<Wall> {
  const wall = await tryWall(probe, found)
  if ('how' in wall) throw explainFailure(wall)
  const missing = missingLevels(wall, required)
  if (missing.length > 0) throw missingError(wall, missing)
  return wall
}

/** The levels isolate and process are always required. */
export const missingLevels = (wall: Wall, required: readonly string[]): WallLevel[] =>
  wall.levels.filter(
    ({ name, reached }) => !reached && (name === 'isolate' || name === 'process' || required.includes(name)),
  )

async function tryWith(
  code: string,
  command: readonly string[],
  enclosure: Enclosure,
): Promise<Wall | ProbeFailure> {
  const result = await runProbe({ enclosure: command, code })
  return 'how' in result ? result : toWall(command, enclosure, result)
}

function toWall(command: readonly string[], enclosure: Enclosure, result: ProbeResult): Wall {
  const { report, residentBytes, diedOf } = result
  const found: Record<WallLevel['name'], Omit<WallLevel, 'name'>> = {
    isolate: fromAttempts(report.isolate, 'isolated-vm runs, and stops a loop'),
    process: fromAttempts(report.process, 'no files, no network, no programs, no environment'),
    namespace: fromNamespace(enclosure, result),
    watchdog: {
      reached: residentBytes > 0 && diedOf === 'SIGKILL',
      shown:
        residentBytes > 0
          ? `resident memory is seen (${Math.round(residentBytes / 1024 / 1024)} MB), and SIGKILL ends the process`
          : 'this system does not show the memory of another process',
      ...(residentBytes === 0 && { fix: 'Run Annex where there is a /proc: on Linux.' }),
    },
    heartbeat: { reached: true, shown: 'the process answers' },
  }
  return {
    levels: levelNames.map((name) => ({ name, ...found[name] })),
    attempts: [...report.isolate, ...report.process],
    enclosure: command,
    probeMs: Math.round(result.tookMs),
  }
}

function fromAttempts(attempts: Attempt[], meaning: string): Omit<WallLevel, 'name'> {
  const broken = attempts.filter(({ held }) => !held)
  if (broken.length === 0) return { reached: true, shown: meaning }
  return {
    reached: false,
    shown: `a sandbox process could ${broken.map(({ what, saw }) => `${what} (${saw})`).join(', ')}`,
    fix: 'Start Annex with the Node that it brings along (`npx annex`, `make run`).',
  }
}

function fromNamespace(
  enclosure: Enclosure,
  { report, hasOwnNetwork }: ProbeResult,
): Omit<WallLevel, 'name'> {
  if (!('command' in enclosure)) return { reached: false, shown: enclosure.reason, fix: enclosure.fix }
  if (hasOwnNetwork && report.interfaces.length === 0) {
    return { reached: true, shown: 'a user of its own without rights, and a network without interfaces' }
  }
  return { reached: false, shown: 'the process still has the network of the host' }
}

function missingError(wall: Wall, missing: WallLevel[]): AnnexError {
  const lines = missing.map(
    ({ name, shown, fix }) => `  ${name}: ${shown}${fix === undefined ? '' : `\n    ${fix}`}`,
  )
  const required = missing.some(({ name }) => name !== 'isolate' && name !== 'process')
  return new AnnexError(
    'sandbox_unavailable',
    `The wall around sandboxes does not reach what it must on this machine${required ? ' (SANDBOX_REQUIRE)' : ''}:\n${lines.join('\n')}\n\`npx annex doctor\` shows what was tried (${wall.attempts.length} attempts).`,
  )
}
