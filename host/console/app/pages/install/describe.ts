import { texts } from '../../texts.ts'
import { type Choices, type PlaceList, placeLists } from './choices.ts'
import { chosenOf, type Found, isAll, type Step } from './plan.ts'

const words = texts.install
/** Longer names would hide what a button does. */
const mostCharacters = 60

/** Where the choices lead, in a few words: the organization alone, the titles of places, or their count. */
export function describeWhere({ organization, own, places }: Found, choices: Choices): string {
  const parts = placeLists.flatMap((list) => {
    if (choices.all.includes(list) || isAll(own, list)) return [words.all[list]]
    return nameAll(
      list,
      chosenOf(places, choices, list).map(({ title }) => title),
    )
  })
  return parts.length === 0 ? words.organizationOnly(organization.title) : parts.join(words.and)
}

/** Where the steps of a plan install, for its button. */
export function describePlan({ organization }: Found, plan: readonly Step[]): string {
  const parts = placeLists.flatMap((list) => {
    const steps = plan.filter((step) => 'list' in step && step.list === list)
    if (steps.some(({ kind }) => kind === 'all')) return [words.all[list].split(',')[0]?.toLowerCase() ?? '']
    return nameAll(
      list,
      steps.flatMap((step) => (step.kind === 'place' ? [step.place.title] : [])),
    )
  })
  return parts.length === 0 ? organization.title : parts.join(words.and)
}

export function describeStep({ organization }: Found, step: Step): string {
  switch (step.kind) {
    case 'install':
      return words.doing.install(organization.title)
    case 'agree':
      return words.doing.agree(step.version)
    case 'all':
      return words.doing.all[step.list]
    case 'place':
      return words.doing.place(step.place.title)
  }
}

function nameAll(list: PlaceList, titles: readonly string[]): string[] {
  if (titles.length === 0) return []
  const all = titles.join(', ')
  return [
    all.length <= mostCharacters ? all : words.places(titles.length, list === 'sites' ? 'site' : 'space'),
  ]
}
