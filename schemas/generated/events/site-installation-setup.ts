// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * The integration was installed in a site, or a setting there was edited.
 */
export interface SiteInstallationSetupEvent {
  /**
   * Identifier of the event, for de-duplication.
   */
  eventId: string
  /**
   * Kind of the event.
   */
  type: 'site_installation_setup'
  /**
   * The installation that receives the event. Added by the host.
   */
  installationId: string
  /**
   * The site.
   */
  siteId: string
  /**
   * Status of the installation.
   */
  status: 'pending' | 'active' | 'paused' | 'suspended'
  /**
   * The site installation before the edit; absent at the first install.
   */
  previous?: {
    /**
     * Status of the installation.
     */
    status?: 'pending' | 'active' | 'paused' | 'suspended'
    /**
     * Settings before the change.
     */
    configuration?: {
      [k: string]: unknown
    }
  }
}
