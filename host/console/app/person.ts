import { isApiError } from '../../../schemas/client.ts'
import type { Me } from '../../../schemas/generated/api/me.ts'
import { api } from './api.ts'
import { me, organizationInAddress } from './state.ts'
import { texts } from './texts.ts'

export type PersonRole = 'reader' | 'editor' | 'admin' | 'operator'
const ranks: readonly string[] = ['reader', 'editor', 'admin', 'operator']

/** Reads who is signed in. */
export async function loadPerson(): Promise<Me | null> {
  const before = me.value
  try {
    const person = await api.call('GET /v1/me')
    // The page still shows what the person before was allowed to see.
    if (before && before.account?.id !== person.account?.id) location.assign('/')
    me.value = person
  } catch (error) {
    if (!isApiError(error, 'unauthorized')) {
      setTimeout(loadPerson, 2_000)
      return null
    }
    me.value = null
  }
  return me.value ?? null
}

/** The role in the organization of the address. */
export function roleHere(): PersonRole | undefined {
  const person = me.value
  if (!person) return undefined
  if (person.account?.operator) return 'operator'
  const name = organizationInAddress()
  return person.memberships?.find(({ organization: { id, subdomain } }) => name === id || name === subdomain)
    ?.role
}

/** Why the person may not call an operation, or undefined. The host decides: this saves a request that would fail. */
export function reasonAgainst(operation: string): string | undefined {
  const needed = me.value?.needs?.[operation]
  const role = roleHere()
  if (needed === undefined || role === undefined || ranks.indexOf(role) >= ranks.indexOf(needed))
    return undefined
  return texts.needsRole(needed, role)
}
