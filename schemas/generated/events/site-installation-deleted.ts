// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * The integration is being uninstalled from a site. It is the last event of the site installation.
 */
export interface SiteInstallationDeletedEvent {
  /**
   * Identifier of the event, for de-duplication.
   */
  eventId: string
  /**
   * Kind of the event.
   */
  type: 'site_installation_deleted'
  /**
   * The installation that receives the event. Added by the host.
   */
  installationId: string
  /**
   * The site.
   */
  siteId: string
  /**
   * The site installation before it was uninstalled.
   */
  previous: {
    /**
     * Status of the installation.
     */
    status: 'pending' | 'active' | 'paused' | 'suspended'
    /**
     * Its last settings.
     */
    configuration: {
      [k: string]: unknown
    }
  }
}
