import type { Manifest, Property } from '../../../schemas/generated/manifest.ts'

/**
 * True for a setting whose text a person types. Choices of `completion_url` are texts of the script, and people do not see the
 * value behind a label.
 */
export const takesTypedHost = (property: Property | undefined): boolean =>
  property?.type === 'string' && property.completion_url === undefined

export const hasTypedSetting = ({ configurations = {} }: Manifest): boolean =>
  Object.values(configurations).some((level) =>
    Object.values<Property>(level?.properties ?? {}).some(takesTypedHost),
  )
