/** Where to install, as the address has it: a reload, the way back and a link that is handed on keep it. */
export type Choices = {
  /** Slugs. */
  sites: readonly string[]
  spaces: readonly string[]
  /** Kinds of which each place gets the integration, later ones too. */
  all: readonly PlaceList[]
}
export type PlaceList = 'sites' | 'spaces'
export const placeLists: readonly PlaceList[] = ['sites', 'spaces']

/** The places that an integration can be installed in. */
export const listsOf = (target = 'all'): PlaceList[] =>
  placeLists.filter((list) => target === 'all' || `${target}s` === list)

export const stepNames = ['where', 'agree', 'settings'] as const
export type StepName = (typeof stepNames)[number]

type Query = Readonly<Record<string, string | undefined>>

export const readChoices = (query: Query): Choices => ({
  sites: toNames(query.sites),
  spaces: toNames(query.spaces),
  all: placeLists.filter((one) => toNames(query.all).includes(one)),
})

export const readStep = (query: Query): StepName => stepNames.find((one) => one === query.step) ?? 'where'

/** The query of the address, with what is given in the place of what it had. */
export function toQuery(query: Query, { step, ...choices }: Partial<Choices> & { step?: StepName }): string {
  const next = new URLSearchParams()
  const given = Object.fromEntries(Object.entries(choices).map(([name, names]) => [name, names.join(',')]))
  for (const [name, value] of Object.entries({ ...query, ...given, ...(step && { step }) }))
    if (value) next.set(name, value)
  // A comma is a plain character of a query: the address stays readable.
  return next.toString().replaceAll('%2C', ',')
}

const toNames = (text = ''): string[] => [...new Set(text.split(',').filter((name) => name !== ''))]
