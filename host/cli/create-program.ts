import { Command } from 'commander'
import { addAudit } from './audit.ts'
import { addConfig } from './config.ts'
import { addConfigure } from './configure.ts'
import { addConnect } from './connect.ts'
import { addConnections } from './connections.ts'
import { addCopyDatabase } from './copy-database.ts'
import { addDeliveries } from './deliveries.ts'
import { addDemo } from './demo.ts'
import { addDoctor } from './doctor.ts'
import { addEvents } from './events.ts'
import { addInstall } from './install.ts'
import { addInstallLinks } from './install-links.ts'
import { addInstallations, addPauseAndResume } from './installations.ts'
import { addJobs } from './jobs.ts'
import { addLogs } from './logs.ts'
import { addMembers } from './members.ts'
import { addMigrate } from './migrate.ts'
import { withExamples } from './options.ts'
import { addOrganizations, addSetup, addSitesOrSpaces } from './organizations.ts'
import { findOwnCommand, toPasteable } from './own-command.ts'
import { addCheck, addIntegrations, addNew, addPrune, addReload, addTypes } from './plugins.ts'
import { addProblems } from './problems.ts'
import { addReceivers } from './receivers.ts'
import { addRender } from './render.ts'
import { addRotateSecret } from './rotate-secret.ts'
import { addSelect } from './select.ts'
import { addServe } from './serve.ts'
import { addSettingOptions } from './setting-options.ts'
import { addStorage } from './storage.ts'
import type { Output, Surroundings } from './surroundings.ts'
import { addTokens } from './tokens.ts'
import { addUninstall } from './uninstall.ts'
import { addVersions } from './versions.ts'

/** The command line. Parsing it runs a command. Errors are thrown. */
export function createProgram(version: string, surroundings: Surroundings): Command {
  const { argv, env, stdout, stderr } = surroundings
  const ownCommand = findOwnCommand({ argv, env, cwd: process.cwd() })
  const program = new Command(ownCommand)
    .configureOutput({
      writeOut: (text) => void stdout.write(toPasteable(text, ownCommand)),
      writeErr: (text) => void stderr.write(toPasteable(text, ownCommand)),
      getOutHelpWidth: () => widthOf(stdout),
      getErrHelpWidth: () => widthOf(stderr),
    })
    .setOptionValue('surroundings', surroundings)
    .description('Runs integrations in sandboxes and delivers their webhooks.')
    .version(version, '-v, --version')
    .option('--url <address>', 'address of Annex (ANNEX_URL; default: the one that runs with this DATA_DIR)')
    .option('--token <token>', 'bearer token; ANNEX_TOKEN hides it from the list of processes')
    .option('--json', 'JSON on stdout; streams print one value a line')
    .option('--no-color', 'no colours (NO_COLOR)')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('Try it with --help.')
    .exitOverride()
  withExamples(program, [
    'annex serve                                       start Annex',
    'annex check plugins/my-integration                find the errors of a plugin folder',
    'annex install webhook --site sample --set webhook_url=https://example.com/hook --set site_view=true --yes',
    'annex events publish site_view --site sample --follow',
    'annex deliveries list --state failed --json',
  ])

  program.commandsGroup('Run it:')
  addServe(program)
  addDoctor(program)
  addConfig(program)
  addMigrate(program)
  addCopyDatabase(program)
  addDemo(program)
  program.commandsGroup('Build integrations:')
  addNew(program)
  addCheck(program)
  addTypes(program)
  addReload(program)
  addPrune(program)
  addIntegrations(program)
  program.commandsGroup('Install them:')
  addInstall(program)
  addConfigure(program)
  addSettingOptions(program)
  addConnect(program)
  addConnections(program)
  addInstallations(program)
  addSelect(program)
  addRender(program)
  addStorage(program)
  addPauseAndResume(program)
  addRotateSecret(program)
  addUninstall(program)
  addVersions(program)
  addInstallLinks(program)
  program.commandsGroup('Watch and repair:')
  addEvents(program)
  addDeliveries(program)
  addReceivers(program)
  addJobs(program)
  addLogs(program)
  addAudit(program)
  addProblems(program)
  program.commandsGroup('Organizations and access:')
  addOrganizations(program)
  addSitesOrSpaces(program, 'site')
  addSitesOrSpaces(program, 'space')
  addSetup(program)
  addMembers(program)
  addTokens(program)
  return program
}

/** Commander takes 80 without a terminal. */
const widthOf = ({ isTTY, columns }: Output): number => (isTTY === true && columns) || 80
