// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * The integration was installed, or a setting of the installation was edited.
 */
export interface InstallationSetupEvent {
  /**
   * Identifier of the event, for de-duplication.
   */
  eventId: string
  /**
   * Kind of the event.
   */
  type: 'installation_setup'
  /**
   * The installation that receives the event. Added by the host.
   */
  installationId: string
  /**
   * The site whose setup this is, where its own event has no handler. Added by the SDK.
   */
  siteId?: string
  /**
   * The space whose setup this is, where its own event has no handler. Added by the SDK.
   */
  spaceId?: string
  /**
   * Status of the installation.
   */
  status: 'pending' | 'active' | 'paused' | 'suspended'
  /**
   * The installation before the edit; absent at the first install.
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
