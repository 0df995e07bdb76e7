import { type Command, Option } from 'commander'
import type { Invitation, ResetLink } from '../../schemas/generated/api/accounts.ts'
import type { Member, MemberRole } from '../../schemas/generated/api/members.ts'
import { roleNames } from '../access/roles.ts'
import { readAll } from './client.ts'
import { findOrganization } from './find-records.ts'
import { withExamples } from './options.ts'
import { openSession, type Session } from './session.ts'
import { printTable } from './terminal.ts'

type Options = { org?: string; name?: string; role?: MemberRole }

/** `annex members`: the people of an organization. */
export function addMembers(program: Command): void {
  const members = program
    .command('members')
    .description('list, add, invite, change and remove members, and mend a lost way in')
  withExamples(members, [
    'annex members add ada@example.com --role editor --name Ada',
    'annex members invite ada@example.com',
    'annex members reset ada@example.com',
    'annex members change ada@example.com --role reader',
    'annex members remove ada@example.com',
  ])
  inOrganization(members.command('list', { isDefault: true }))
    .description('list the members of an organization')
    .action(async ({ org }: Options, command: Command) => {
      const { session, params } = await open(command, org)
      const answer = await readAll(session.api.all('GET /v1/orgs/{org}/members', { params }))
      if (session.terminal.json) return session.terminal.printJson(answer)
      const rows = answer.items.map(({ id, email, name, role }) => [id, role, email, name])
      printTable(session.terminal, ['member', 'role', 'email', 'name'], rows)
    })
  inOrganization(members.command('add'))
    .description('add a member')
    .argument('<email>', 'email of the member')
    .addOption(roleOption().makeOptionMandatory())
    .option('--name <text>', 'name of the member')
    .action(async (email: string, { org, role, name }: Options & { role: MemberRole }, command: Command) => {
      const { session, params } = await open(command, org)
      const body = { email, role, ...(name !== undefined && { name }) }
      print(session, await session.api.call('POST /v1/orgs/{org}/members', { params, body }))
    })
  inOrganization(members.command('invite'))
    .description('make a link by which a member gets an account; it works once, for seven days')
    .argument('<member>', 'id or email of the member')
    .action(async (member: string, { org }: Options, command: Command) => {
      const { session, params } = await open(command, org)
      const address = 'POST /v1/orgs/{org}/members/{member}/invitation'
      printLink(session, await session.api.call(address, { params: { ...params, member } }))
    })
  members
    .command('reset')
    .description('make a link for a person who cannot sign in any more; it works once, for an hour')
    .argument('<email>', 'email of the account')
    .action(async (email: string, _options: object, command: Command) => {
      const session = openSession(command)
      printLink(session, await session.api.call('POST /v1/resets/links', { body: { email } }))
    })
  inOrganization(members.command('change'))
    .description('change the role or name of a member; a lower role lowers the tokens of the member')
    .argument('<member>', 'id or email of the member')
    .addOption(roleOption())
    .option('--name <text>', 'name of the member')
    .action(async (member: string, { org, role, name }: Options, command: Command) => {
      const { session, params } = await open(command, org)
      const body = { ...(role !== undefined && { role }), ...(name !== undefined && { name }) }
      const one = { params: { ...params, member }, body }
      print(session, await session.api.call('PATCH /v1/orgs/{org}/members/{member}', one))
    })
  inOrganization(members.command('remove'))
    .description('remove a member; the tokens of the member stop at once')
    .argument('<member>', 'id or email of the member')
    .action(async (member: string, { org }: Options, command: Command) => {
      const { session, params } = await open(command, org)
      const one = { params: { ...params, member } }
      const answer = await session.api.call('DELETE /v1/orgs/{org}/members/{member}', one)
      if (session.terminal.json) return session.terminal.printJson(answer)
      session.terminal.print(`${answer.id} is removed, with ${answer.deleted.tokens} tokens.`)
    })
}

const inOrganization = (command: Command): Command =>
  command.option('--org <name>', 'organization: id or subdomain')

const roleOption = () => new Option('--role <role>', 'what the member may do').choices(roleNames)

async function open(command: Command, org: string | undefined) {
  const session = openSession(command)
  return { session, params: { org: (await findOrganization(session, org)).id } }
}

function print({ terminal }: Session, member: Member): void {
  if (terminal.json) return terminal.printJson(member)
  terminal.print(member.id)
  terminal.say(`${member.email} is ${member.role} of ${member.organization}.`)
}

function printLink({ terminal }: Session, link: Invitation | ResetLink): void {
  if (terminal.json) return terminal.printJson(link)
  terminal.print(link.url)
  terminal.say(`Send this address to the person: it works once, until ${link.expiresAt}.`)
}
