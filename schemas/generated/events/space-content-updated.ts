// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * Content in the space was modified.
 */
export interface SpaceContentUpdatedEvent {
  /**
   * Identifier of the event, for de-duplication.
   */
  eventId: string
  /**
   * Kind of the event.
   */
  type: 'space_content_updated'
  /**
   * The installation that receives the event. Added by the host.
   */
  installationId: string
  /**
   * The space.
   */
  spaceId: string
  /**
   * The revision that the change made.
   */
  revisionId: string
  /**
   * The authors of the change. Extension.
   *
   * @maxItems 100
   */
  updatedBy?: EventUser[]
}
/**
 * An author: a user, an integration or the host.
 */
export interface EventUser {
  /**
   * The kind of the author.
   */
  type: 'user' | 'integration' | 'host'
  /**
   * Its identifier.
   */
  id: string
  /**
   * The name that people read.
   */
  displayName?: string
  /**
   * Address of a user.
   */
  email?: string
}
