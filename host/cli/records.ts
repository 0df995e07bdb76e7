import type * as integrations from '../../schemas/generated/api/integrations.ts'
import type { Site } from '../../schemas/generated/api/sites.ts'
import type { Space } from '../../schemas/generated/api/spaces.ts'
import type { SettingsSchema } from '../manifest/settings/settings-schema.ts'

export type SiteOrSpace = Site | Space

/** The API describes settings as any JSON Schema. Commands read types, buttons and levels from them. */
export type Integration = Omit<integrations.Integration, 'configurations'> & {
  configurations: Partial<Record<'account' | 'site' | 'space', SettingsSchema>>
}
