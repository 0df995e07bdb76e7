import { type Command, InvalidArgumentError, Option } from 'commander'
import type { MemberRole } from '../../schemas/generated/api/members.ts'
import type { NewOperatorToken } from '../../schemas/generated/api/tokens.ts'
import { parseDate } from '../../schemas/parse-date.ts'
import { roleNames } from '../access/roles.ts'
import { readAll } from './client.ts'
import { findOrganization } from './find-records.ts'
import { durationMs, withExamples } from './options.ts'
import { openSession, type Session } from './session.ts'
import { printTable } from './terminal.ts'

type Options = {
  org?: string
  operator?: boolean
  label?: string
  role?: MemberRole
  /** False: none. */
  member?: string | false
  expires?: string
}

/** `annex tokens`: the tokens of an organization, or those of operators. */
export function addTokens(program: Command): void {
  const tokens = program.command('tokens').description('list, make and revoke tokens')
  withExamples(tokens, [
    'annex tokens new --role editor --label ci --expires 90d',
    'annex tokens new --member ada@example.com',
    'annex tokens list',
    'annex tokens revoke tok_0199…',
  ])
  ofOwner(tokens.command('list', { isDefault: true }))
    .description('list tokens, without the tokens themselves, the newest first')
    .action(async (options: Options, command: Command) => {
      const { session, params } = await open(command, options)
      const { api } = session
      const answer = await readAll(
        params === undefined ? api.all('GET /v1/tokens') : api.all('GET /v1/orgs/{org}/tokens', { params }),
      )
      if (session.terminal.json) return session.terminal.printJson(answer)
      const rows = answer.items.map(({ id, role, label, member, expiresAt, lastUsedAt }) => [
        id,
        role,
        lastUsedAt ?? 'never',
        expiresAt ?? 'never',
        member ?? '',
        label,
      ])
      printTable(session.terminal, ['token', 'role', 'last used', 'expires', 'member', 'label'], rows)
    })
  const create = ofOwner(tokens.command('new'))
    .description('make a token; it is shown only once')
    .addOption(new Option('--role <role>', 'what the token may do; default: admin').choices(roleNames))
    .option('--member <name>', 'id or email of the member that it belongs to; default role: the member’s')
    .option('--no-member', 'it belongs to no member, although a member makes it; for operators')
    .addOption(new Option('--expires <time>', 'end of the token: 12h, 90d, or a date').argParser(parseExpiry))
    .option('--label <text>', 'purpose of the token')
    .action(async ({ org, operator, expires, member, ...given }: Options, command: Command) => {
      const { session, params, owner } = await open(command, { org, operator })
      const body = {
        ...given,
        ...(typeof member === 'string' && { member }),
        ...(member === false && { member: null }),
        ...(expires !== undefined && { expiresAt: expires }),
      }
      const answer =
        params === undefined
          ? // The server refuses a role and a member.
            await session.api.call('POST /v1/tokens', { body: body as NewOperatorToken })
          : await session.api.call('POST /v1/orgs/{org}/tokens', { params, body })
      if (session.terminal.json) return session.terminal.printJson(answer)
      session.terminal.print(answer.token)
      session.terminal.say(`Keep this ${answer.role}’s token of ${owner}: it is shown only once.`)
    })
  withExamples(create, [
    'annex tokens new --role reader --label dashboard --expires 30d',
    'ANNEX_TOKEN=$(annex tokens new --org home) annex installations',
  ])
  ofOwner(tokens.command('revoke'))
    .description('revoke a token: it stops at once')
    .argument('<id>', `id of the token: ${program.name()} tokens list`)
    .action(async (id: string, options: Options, command: Command) => {
      const { session, params } = await open(command, options)
      if (params === undefined) {
        await session.api.call('DELETE /v1/tokens/{token}', { params: { token: id } })
      } else {
        const one = { params: { ...params, token: id } }
        await session.api.call('DELETE /v1/orgs/{org}/tokens/{token}', one)
      }
      if (session.terminal.json) return session.terminal.printJson({ id, revoked: true })
      session.terminal.print(`${id} is revoked.`)
    })
}

const ofOwner = (command: Command): Command =>
  command
    .option('--org <name>', 'organization: id or subdomain')
    .option('--operator', 'tokens of operators, which belong to no organization')

type Owner = { org?: string | undefined; operator?: boolean | undefined }

/** @returns no `params` for the tokens of operators */
async function open(
  command: Command,
  { org, operator }: Owner,
): Promise<{ session: Session; params?: { org: string }; owner: string }> {
  const session = openSession(command)
  if (operator === true) return { session, owner: 'this Annex' }
  const { id, subdomain } = await findOrganization(session, org)
  return { session, params: { org: id }, owner: subdomain }
}

/** @returns the time in ISO 8601 */
function parseExpiry(text: string): string {
  const ms = durationMs(text)
  const at = ms === undefined ? parseDate(text) : Date.now() + ms
  if (at > Date.now()) return new Date(at).toISOString()
  throw new InvalidArgumentError('It must be in the future: 12h, 90d, or a date such as 2027-01-31.')
}
