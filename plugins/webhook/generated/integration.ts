// Generated from the manifest by `annex types`. Do not edit: edit the manifest.
// sha256:f39eb2767698d3585b1cb9bd081fd1a81b5e28d30788af507a888aa4fed7105d

/**
 * What the manifest of this integration declares, for `createIntegration<Integration>({ … })`.
 */
export interface Integration {
  name: "webhook"
  settings: {
    account: {
    }
    site: {
      /**
       * Webhook URL. Receives a POST for each event.
       */
      webhook_url: string
      /**
       * Site views. Send an event when a visitor opens a page.
       */
      site_view: boolean
      /**
       * Page feedback. Send an event when a visitor gives feedback on a page.
       */
      page_feedback: boolean
    }
    space: {
      /**
       * Webhook URL. Receives a POST for each event.
       */
      webhook_url: string
      /**
       * Content updates. Send an event when the content of the space is modified.
       */
      space_content_updated: boolean
    }
  }
  /**
   * Settings that only an active installation is sure to have: required ones without a default.
   */
  required: {
    account: never
    site: "webhook_url"
    space: "webhook_url"
  }
  secrets: {
  }
  scopes: ("space:content:read" | "site:views:read")
}
