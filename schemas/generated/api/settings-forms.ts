// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

import type { Configuration } from './common.ts'

/**
 * What a form of settings shows beside their values.
 */
export interface SettingsForm {
  object: 'settings_form'
  /**
   * The number of the version.
   */
  version: number
  /**
   * False: no script handles the setup event of an edit.
   */
  hasScript: boolean
  /**
   * The JSON Schema of the settings. A setting with `button: true` has no type: it is set by connecting. One with `secret: true` is never shown. With `componentId` a component of the script asks for the settings.
   */
  schema: {
    [k: string]: unknown
  }
  inherited: Configuration
  /**
   * Names of values that the script, one of its components or an older version has stored beside the settings. DELETE of such a setting clears the value.
   */
  stored: string[]
}

export interface SettingsFormsOperations {
  getInstallationSettingsForm: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string }
    query: object
    body: undefined
    answer: SettingsForm
  }
  getSiteInstallationSettingsForm: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; site: string }
    query: object
    body: undefined
    answer: SettingsForm
  }
  getSpaceInstallationSettingsForm: {
    roles: 'reader' | 'editor' | 'admin' | 'operator'
    params: { integration: string; installation: string; space: string }
    query: object
    body: undefined
    answer: SettingsForm
  }
}
