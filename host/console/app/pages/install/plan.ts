import type { Integration } from '../../../../../schemas/generated/api/integrations.ts'
import type { OwnInstallation } from '../../installed.ts'
import { type Choices, type PlaceList, placeLists } from './choices.ts'

export type Place = { id: string; slug: string; title: string }
type Places = Readonly<Record<PlaceList, readonly Place[]>>

/** What the page knows of an integration and an organization. */
export type Found = {
  organization: { subdomain: string; title: string }
  integration: Integration
  own: OwnInstallation | null
  /** Those that the integration may be installed in. */
  places: Places
  /** Ids of the places that it is installed in. */
  installed: Readonly<Record<PlaceList, ReadonlySet<string>>>
}

/** One request that an installation needs. */
export type Step =
  | { kind: 'install' }
  | { kind: 'agree'; version: number }
  | { kind: 'all'; list: PlaceList }
  | { kind: 'place'; list: PlaceList; place: Place }

/** What is left to do for the choices: what is done already is no part of it, so a plan that failed half way can be run again. */
export function planOf({ own, places, installed }: Found, choices: Choices): Step[] {
  const waiting = own?.agreement.waiting
  return [
    ...(own === null ? [{ kind: 'install' } as const] : []),
    ...(waiting ? [{ kind: 'agree', version: waiting.version } as const] : []),
    ...placeLists.flatMap((list): Step[] => {
      if (choices.all.includes(list) && !isAll(own, list)) return [{ kind: 'all', list }]
      return chosenOf(places, choices, list)
        .filter(({ id }) => !installed[list].has(id))
        .map((place) => ({ kind: 'place', list, place }))
    }),
  ]
}

export const chosenOf = (places: Places, choices: Choices, list: PlaceList): Place[] =>
  places[list].filter(({ slug }) => choices[list].includes(slug))

/** Names of the address that the organization has no place for. */
export const findMissing = (places: Places, choices: Choices): string[] =>
  placeLists.flatMap((list) =>
    choices[list].filter((name) => !places[list].some(({ slug }) => slug === name)),
  )

/** True when each place of the kind gets the integration. */
export function isAll(own: OwnInstallation | null, list: PlaceList): boolean {
  const { site_selection: sites, space_selection: spaces } = own?.installation ?? {}
  return { sites, spaces }[list] === 'all'
}

const operationOf = {
  install: 'installIntegration',
  agree: 'agreeToVersion',
  all: 'selectPlaces',
  sites: 'installIntegrationOnSite',
  spaces: 'installIntegrationOnSpace',
} as const

/** The id of the operation that a step calls. */
export const toOperation = (step: Step): string => operationOf[step.kind === 'place' ? step.list : step.kind]
