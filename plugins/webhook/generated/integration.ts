// Generated from the manifest by `annex types`. Do not edit: edit the manifest.

/** What the manifest of this integration declares, for `createIntegration<Integration>({ … })`. */
export type Integration = {
  name: 'webhook'
  settings: {
    account: {}
    site: {
      /** Webhook URL. Receives a POST for each event. */
      webhook_url: string
      /** Site views. Send an event when somebody visits a page. */
      site_view: boolean
      /** Page feedback. Send an event when somebody gives feedback on a page. */
      page_feedback: boolean
    }
    space: {
      /** Webhook URL. Receives a POST for each event. */
      webhook_url: string
      /** Content updates. Send an event when the content of the space is modified. */
      space_content_updated: boolean
    }
  }
  secrets: {}
  scopes: 'space:content:read' | 'site:views:read'
}
