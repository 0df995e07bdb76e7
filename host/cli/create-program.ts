import { Command } from 'commander'
import { addDemo } from './commands/host/demo.ts'
import { addPauseAndResume } from './commands/installations/pause.ts'
import { addExport } from './commands/move/export.ts'
import { addImport } from './commands/move/import.ts'
import { addCheck } from './commands/plugins/check.ts'
import { addIntegrations } from './commands/plugins/integrations.ts'
import { addReload } from './commands/plugins/reload.ts'
import { addTypes } from './commands/plugins/types.ts'
import { addSetup } from './commands/records/setup.ts'
import { addToken } from './commands/records/token.ts'
import { addConfig } from './config.ts'
import { addConfigure } from './configure.ts'
import { addDeliveries } from './deliveries.ts'
import { addDoctor } from './doctor.ts'
import { addEvents } from './events.ts'
import { addInstall } from './install.ts'
import { addInstallations } from './installations.ts'
import { addJobs } from './jobs.ts'
import { addLogs } from './logs.ts'
import { addMigrate } from './migrate.ts'
import { addPlaces } from './organizations.ts'
import { addNew } from './plugins.ts'
import { addEndpoints } from './receivers.ts'
import { addResends } from './resends.ts'
import { addRotateSecret } from './rotate-secret.ts'
import { addServe } from './serve.ts'
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
