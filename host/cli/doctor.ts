import type { Command } from 'commander'
import type { AnnexError } from '../errors.ts'
import type { Wall, WallLevel } from '../sandbox/wall/levels.ts'
import { exitCodes } from './exit.ts'
import { withExamples } from './options.ts'
import { openTerminal } from './session.ts'
import { readSettings } from './surroundings.ts'
import { type Cell, paint, printTable, type Terminal } from './terminal.ts'

export function addDoctor(program: Command): void {
  const command = program
    .command('doctor')
    .description('test the wall around scripts on this machine with a real sandbox process')
    .action((_options: object, command: Command) => examine(command))
  withExamples(command, ['annex doctor', 'annex doctor --json', 'SANDBOX_REQUIRE=namespace annex doctor'])
}

type Findings = {
  wall?: Wall
  /** Required levels that this machine does not reach. */
  missing: WallLevel[]
  error?: AnnexError
}

/** @throws AnnexError `settings_invalid` */
async function examine(command: Command): Promise<void> {
  const terminal = openTerminal(command)
  const { settings } = readSettings(command)
  const findings = await find(settings.SANDBOX_REQUIRE)
  const ok = findings.error === undefined && findings.missing.length === 0
  if (terminal.json) terminal.printJson(toJson(ok, findings))
  else print(terminal, ok, findings)
  if (!ok) terminal.setExitCode(exitCodes.failed)
}

async function find(required: readonly string[]): Promise<Findings> {
  // Other commands start faster without the host.
  const { buildProcessCode } = await import('../bundle/build-runtime.ts')
  const { missingLevels, tryWall } = await import('../sandbox/wall/reach-wall.ts')
  const { explainFailure } = await import('../sandbox/wall/explain-failure.ts')
  const wall = await tryWall((await buildProcessCode()).probe)
  if ('how' in wall) return { missing: [], error: explainFailure(wall) }
  return { wall, missing: missingLevels(wall, required) }
}

const machine = `${process.platform}-${process.arch}`

function toJson(ok: boolean, { wall, missing, error }: Findings): unknown {
  return {
    ok,
    node: process.version,
    machine,
    nativeModule: error === undefined,
    ...(error !== undefined && { error: { code: error.code, message: error.message } }),
    ...(wall !== undefined && {
      levels: wall.levels,
      missing: missing.map(({ name }) => name),
      attempts: wall.attempts,
      probeMs: wall.probeMs,
    }),
  }
}

function print(terminal: Terminal, ok: boolean, { wall, missing, error }: Findings): void {
  terminal.print(`Node ${process.version}, ${machine}`)
  if (wall === undefined) {
    return terminal.print(paint('red', 'no sandbox can run: '), error?.message ?? '')
  }
  terminal.print()
  printTable(
    terminal,
    ['level', 'state', 'finding'],
    wall.levels.map(({ name, reached, shown }) => [name, toState(reached), shown]),
  )
  terminal.print()
  printTable(
    terminal,
    ['a script’s process tried to', 'state', 'result'],
    wall.attempts.map(({ what, held, saw }) => [what, held ? paintCell('green', 'held') : broken, saw]),
  )
  terminal.print()
  for (const { name, fix } of wall.levels) {
    if (fix !== undefined) terminal.print(paint('yellow', `${name}: `), `to reach it: ${fix}`)
  }
  if (ok) return terminal.print('Scripts can run here.')
  terminal.print(
    paint('red', 'Annex does not start here: '),
    `it must reach ${missing.map(({ name }) => name).join(', ')}.`,
  )
}

const paintCell = (style: 'green' | 'yellow' | 'red', text: string): Cell => ({ text, style })

const broken = paintCell('red', 'broken')

const toState = (reached: boolean): Cell =>
  reached ? paintCell('green', 'reached') : paintCell('yellow', 'not reached')
