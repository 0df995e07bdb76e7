// Generated from the manifest by `annex types`. Do not edit: edit the manifest.

/** What the manifest of this integration declares, for `createIntegration<Integration>({ … })`. */
export type Integration = {
  name: 'handbook-stats'
  settings: {
    account: {
      /** Unit. What is counted. */
      unit?: 'words' | 'characters'
      /** Team. Whose handbook it is. */
      team?: string
      /** Reading speed. Words that a reader takes in per minute. */
      words_per_minute?: number
      /** Report URL. Gets a POST with the new numbers after each change. Leave it empty for no reports. */
      report_url?: string
      /** Report account. Connects the account that reports are filed under. */
      connection?: { access_token?: string; refresh_token?: string; expires_at?: number; [name: string]: unknown }
    }
    site: {}
    space: {
      /** Count headings. Headings count like any other text. */
      include_headings?: boolean
    }
  }
  secrets: {
    REPORT_TOKEN: string
  }
  scopes: 'space:metadata:read' | 'space:content:read'
}
