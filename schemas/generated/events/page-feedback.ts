// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * A visitor gave feedback on a page.
 */
export interface PageFeedbackEvent {
  /**
   * Identifier of the event, for de-duplication.
   */
  eventId: string
  /**
   * Kind of the event.
   */
  type: 'page_feedback'
  /**
   * The installation that receives the event. Added by the host.
   */
  installationId: string
  /**
   * The site.
   */
  siteId: string
  /**
   * The space of the page; absent for a page that is no page of a space.
   */
  spaceId?: string
  /**
   * The page: its id in the space, or its path on the site.
   */
  pageId: string
  feedback: Feedback
  visitor: Visitor
  /**
   * Absolute address of the visited page, http or https.
   */
  url: string
  /**
   * Address from which the visitor came; empty or absent when there is none.
   */
  referrer?: string
}
/**
 * The feedback.
 */
export interface Feedback {
  /**
   * The rating, such as `good`. Values are not fixed: any word of up to 50 characters.
   */
  rating: string
  /**
   * The text that the visitor wrote; may be empty.
   */
  comment?: string
}
/**
 * The visitor of the page.
 */
export interface Visitor {
  /**
   * Identifier of the visitor that names no person.
   */
  anonymousId: string
  /**
   * User agent of the browser.
   */
  userAgent: string
  /**
   * Address of the visitor.
   */
  ip: string
  /**
   * Cookies by name; may be empty.
   */
  cookies: {
    /**
     * Value of the cookie.
     */
    [k: string]: string
  }
  /**
   * Language of the browser, such as `en-GB`. Extension.
   */
  language?: string
}
