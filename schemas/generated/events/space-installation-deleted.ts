// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * The integration is being uninstalled from a space. It is the last event of the space installation.
 */
export interface SpaceInstallationDeletedEvent {
  /**
   * Identifier of the event, for de-duplication.
   */
  eventId: string
  /**
   * Kind of the event.
   */
  type: 'space_installation_deleted'
  /**
   * The installation that receives the event. Added by the host.
   */
  installationId: string
  /**
   * The space.
   */
  spaceId: string
  /**
   * The space installation before it was uninstalled.
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
