// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * The integration is being uninstalled from an organization. It is the last event of the installation.
 */
export interface InstallationDeletedEvent {
  /**
   * Identifier of the event, for de-duplication.
   */
  eventId: string
  /**
   * Kind of the event.
   */
  type: 'installation_deleted'
  /**
   * The installation that ends with the event. Added by the host.
   */
  installationId: string
  /**
   * The installation before it was uninstalled.
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
