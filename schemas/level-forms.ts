import type { OperationSource } from './generated/api-source.ts'

/** An operation of levels has an address for each of them. Its texts name the level by these words. */
const levels = {
  account: { path: '', level: 'installation', 'a level': 'an installation', Level: 'Installation' },
  site: {
    path: '/sites/{site}',
    level: 'site installation',
    'a level': 'a site installation',
    Level: 'SiteInstallation',
  },
  space: {
    path: '/spaces/{space}',
    level: 'space installation',
    'a level': 'a space installation',
    Level: 'SpaceInstallation',
  },
} as const
const levelWord = /\{(level|a level|Level)\}/g

/** An operation at one address. `level` is that of an operation of levels. */
export type Form = { level?: keyof typeof levels; address: string; operation: OperationSource }

/** Makes the three forms of an operation of levels. Any other operation has one form. */
export function toForms(
  address: string,
  { levels: differing, ...operation }: OperationSource,
  fail: (field: string, problem: string) => Error,
): Form[] {
  if (!differing) {
    const [word] = JSON.stringify(operation).match(levelWord) ?? []
    if (word !== undefined) throw fail('levels', `is missing, and ${word} needs it`)
    return [{ address, operation }]
  }
  if (!address.includes('{installation}')) throw fail('levels', 'the path needs {installation}')
  return (Object.keys(levels) as (keyof typeof levels)[]).map((level) => {
    const own = level === 'account' || differing === true ? {} : differing[level]
    const text = JSON.stringify({ ...operation, ...own })
    return {
      level,
      address: address.replace('{installation}', `{installation}${levels[level].path}`),
      operation: JSON.parse(text.replace(levelWord, (_all, word: 'level') => levels[level][word])),
    }
  })
}
