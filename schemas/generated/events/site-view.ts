// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * A visitor opened a page of the site.
 */
export interface SiteViewEvent {
  /**
   * Identifier of the event, for de-duplication.
   */
  eventId: string
  /**
   * Kind of the event.
   */
  type: 'site_view'
  /**
   * The installation that receives the event. Added by the host.
   */
  installationId: string
  /**
   * The site.
   */
  siteId: string
  /**
   * The space of the page. Extension.
   */
  spaceId?: string
  /**
   * The page. Extension.
   */
  pageId?: string
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
