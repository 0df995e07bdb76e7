// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * The visibility of the space was changed.
 */
export interface SpaceVisibilityUpdatedEvent {
  /**
   * Identifier of the event, for de-duplication.
   */
  eventId: string
  /**
   * Kind of the event.
   */
  type: 'space_visibility_updated'
  /**
   * The installation that receives the event. Added by the host.
   */
  installationId: string
  /**
   * The space.
   */
  spaceId: string
  /**
   * Who may read the space now.
   */
  visibility: 'private' | 'unlisted' | 'share-link' | 'visitor-auth' | 'public'
  /**
   * Who could read it before.
   */
  previousVisibility: 'private' | 'unlisted' | 'share-link' | 'visitor-auth' | 'public'
}
