import { Command } from 'commander'
import { addDeliveries } from './commands/deliveries/deliveries.ts'
import { addEndpoints } from './commands/deliveries/endpoints.ts'
import { addResends } from './commands/deliveries/resends.ts'
import { addEvents } from './commands/events/events.ts'
import { addJobs } from './commands/events/jobs.ts'
import { addLogs } from './commands/events/logs.ts'
import { addConfig } from './commands/host/config.ts'
import { addDemo } from './commands/host/demo.ts'
import { addDoctor } from './commands/host/doctor.ts'
import { addMigrate } from './commands/host/migrate.ts'
import { addServe } from './commands/host/serve.ts'
import { addConfigure } from './commands/installations/configure.ts'
import { addInstall } from './commands/installations/install.ts'
import { addInstallations } from './commands/installations/installations.ts'
import { addPauseAndResume } from './commands/installations/pause.ts'
import { addRotateSecret } from './commands/installations/rotate-secret.ts'
import { addExport } from './commands/move/export.ts'
import { addImport } from './commands/move/import.ts'
import { addCheck } from './commands/plugins/check.ts'
import { addIntegrations } from './commands/plugins/integrations.ts'
import { addNew } from './commands/plugins/new.ts'
import { addReload } from './commands/plugins/reload.ts'
import { addTypes } from './commands/plugins/types.ts'
import { addPlaces } from './commands/records/places.ts'
import { addSetup } from './commands/records/setup.ts'
import { addToken } from './commands/records/token.ts'
import { withExamples } from './with-examples.ts'

/** The command line. Parsing it runs a command; whatever goes wrong is thrown. */
export function createProgram(version: string): Command {
  const program = new Command('annex')
    .description('Runs integrations in sandboxes and delivers their webhooks.')
    .version(version, '-v, --version')
    .option('--url <address>', 'the Annex to talk to (ANNEX_URL; else the one that runs with this DATA_DIR)')
    .option('--token <token>', 'bearer token (ANNEX_TOKEN keeps it out of the list of processes)')
    .option('--json', 'JSON on stdout; one value a line where it streams')
    .option('--no-color', 'no colours (NO_COLOR)')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('Try it with --help.')
    .exitOverride()
  withExamples(program, [
    'annex serve                                       start',
    'annex check plugins/my-integration                what is wrong with a plugin folder',
    'annex install webhook --site sample --set webhook_url=https://example.com/hook --set site_view=true',
    'annex events publish site_view --site sample --follow',
    'annex deliveries list --state failed --json',
  ])

  program.commandsGroup('Run it:')
  addServe(program)
  addDoctor(program)
  addConfig(program)
  addMigrate(program)
  addDemo(program)
  program.commandsGroup('Build integrations:')
  addNew(program)
  addCheck(program)
  addTypes(program)
  addReload(program)
  addIntegrations(program)
  program.commandsGroup('Install them:')
  addInstall(program)
  addConfigure(program)
  addInstallations(program)
  addPauseAndResume(program)
  addRotateSecret(program)
  addExport(program)
  addImport(program)
  program.commandsGroup('See what happens:')
  addEvents(program)
  addDeliveries(program)
  addResends(program)
  addEndpoints(program)
  addJobs(program)
  addLogs(program)
  program.commandsGroup('Organizations and access:')
  addPlaces(program)
  addSetup(program)
  addToken(program)
  return program
}
