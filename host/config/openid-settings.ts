import type { ErrorDetail } from '../errors.ts'
import type { Setting } from './setting.ts'

/** Signing in by an OpenID provider. `docs/access.md` explains it. */
export const openidSettings = {
  OPENID_ISSUER: {
    kind: 'issuer',
    default: '',
    meaning:
      'Issuer of the OpenID provider that people may sign in by, as it names itself; empty: none. Annex asks it directly, also at a private address',
  },
  OPENID_CLIENT_ID: {
    kind: 'text',
    default: '',
    meaning: 'Client id that the OpenID provider has given to this Annex',
  },
  OPENID_CLIENT_SECRET: {
    kind: 'text',
    default: '',
    secret: true,
    meaning: 'Client secret that the OpenID provider has given to this Annex',
  },
  OPENID_NAME: {
    kind: 'text',
    default: '',
    meaning: 'Name of the OpenID provider on the sign-in page; empty: the host of OPENID_ISSUER',
  },
  OPENID_SCOPES: {
    kind: 'list',
    default: 'profile,email',
    meaning: 'Scopes to ask the OpenID provider for, beside openid; some send groups only for a scope',
  },
  OPENID_ROLES_CLAIM: {
    kind: 'text',
    default: 'groups',
    meaning: 'Top-level claim of the OpenID provider that OPENID_ROLES reads: a text, or a list of texts',
  },
  OPENID_ROLES: {
    kind: 'roles',
    default: '',
    meaning:
      'Roles by values of the claim: engineering=acme:admin,support=acme:reader; a comma in a value is %2C, a percent sign %25. Empty: the OpenID provider gives no role',
  },
} as const satisfies Record<string, Setting>

const needed = ['OPENID_CLIENT_ID', 'OPENID_CLIENT_SECRET'] as const

/** Settings that need each other. A provider without its client would fail at the first sign-in. */
export function checkOpenidSettings(values: Readonly<Record<string, unknown>>): ErrorDetail[] {
  const isSet = (name: string) => values[name] !== undefined && String(values[name]) !== ''
  if (isSet('OPENID_ISSUER')) {
    return needed
      .filter((name) => values[name] === '')
      .map((name) => ({ path: name, message: 'is required with OPENID_ISSUER' }))
  }
  return [...needed, 'OPENID_ROLES']
    .filter((name) => isSet(name) && values.OPENID_ISSUER === '')
    .map((name) => ({ path: name, message: 'is set, and OPENID_ISSUER is not' }))
}
