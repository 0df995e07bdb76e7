// Generated from the manifest by `annex types`. Do not edit: edit the manifest.
// sha256:bec2ad01f8aff0c224b91701c53595f8f9c41d4cbe62e6d87adc3a6ae658009b

/**
 * What the manifest of this integration declares, for `createIntegration<Integration>({ … })`.
 */
export interface Integration {
  name: "handbook-stats"
  settings: {
    account: {
      oauth_credentials?: {
        access_token: string
        refresh_token?: string
        expires_at?: number
        [k: string]: unknown
      }
      /**
       * Unit. What is counted.
       */
      unit: ("words" | "characters")
      /**
       * Team. Whose handbook it is.
       */
      team?: string
      /**
       * Reading speed. Words that a reader takes in per minute.
       */
      words_per_minute: number
      /**
       * Report URL. Gets a POST with the new numbers after each change. Leave it empty for no reports.
       */
      report_url: string
      /**
       * Report account. Connects the account that reports are filed under.
       */
      connection?: {
        access_token?: string
        refresh_token?: string
        expires_at?: number
        [k: string]: unknown
      }
    }
    site: {
    }
    space: {
      /**
       * Count headings. Headings count like any other text.
       */
      include_headings: boolean
    }
  }
  /**
   * Settings that only an active installation is sure to have: required ones without a default.
   */
  required: {
    account: never
    site: never
    space: never
  }
  secrets: {
    REPORT_TOKEN: string
  }
  scopes: ("space:metadata:read" | "space:content:read")
}
